"""Runs a task through LangChain, streamed and whole, and prints what it made of the answers as JSON lines."""

import json
import sys

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

url, key, model = sys.argv[1:]

chat = ChatOpenAI(
    base_url=url,
    api_key=key,
    model=model,
    temperature=0.3,
    max_tokens=5,
    max_retries=0,
    default_headers={"X-Chat-Id": "langchain"},
)
messages = [SystemMessage("Be brief."), HumanMessage("What stands in hello.txt?")]

whole = None
for chunk in chat.stream(messages):
    whole = chunk if whole is None else whole + chunk
print(json.dumps({"text": whole.text, "usage": whole.usage_metadata}))

answer = chat.invoke([HumanMessage("And in other.txt?")])
print(
    json.dumps(
        {
            "text": answer.text,
            "usage": answer.usage_metadata,
            "finish": answer.response_metadata["finish_reason"],
        }
    )
)
