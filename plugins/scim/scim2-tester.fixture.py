"""Runs scim2-tester against a server and prints its results as JSON lines.

Usage: python scim2-tester.fixture.py <base address> <token>
"""

import json
import sys
import uuid

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server, filling
from scim2_tester.checkers import patch_add, patch_replace

generate = filling.generate_random_value


def generate_value(context, path, mutability=None, required=None):
    """Contract D.27: a userName is an e-mail address. The tester would make up a UUID."""
    value = generate(context, path=path, mutability=mutability, required=required)
    if value is not None and str(path).endswith("userName"):
        return f"{uuid.uuid4()}@example.test"
    return value


for module in (filling, patch_add, patch_replace):
    module.generate_random_value = generate_value

base, token = sys.argv[1:3]
http = httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=60)
for result in check_server(SyncSCIMClient(http)):
    print(
        json.dumps(
            {
                "status": result.status.name,
                "title": result.title,
                "resource": result.resource_type,
                "reason": result.reason,
            }
        )
    )
