import builtins
import io
import json
import mimetypes
import os
import sys
import traceback

import _chat
from pyodide.code import eval_code_async
from pyodide.ffi import to_js

_scope = {"__name__": "__main__", "__builtins__": builtins}
_folder = "/work"
_most_files = 20
_most_bytes = 20 * 1024 * 1024
os.chdir(_folder)


class _Writer(io.TextIOBase):
    """Hands on what is printed, and ends code that prints without end."""

    most = 5_000_000
    printed = 0

    def __init__(self, name):
        self._name = name

    def writable(self):
        return True

    def write(self, text):
        _Writer.printed += len(text)
        if _Writer.printed > _Writer.most:
            raise RuntimeError("The code printed more than is kept and was stopped.")
        _chat.write(self._name, text)
        return len(text)


sys.stdout = _Writer("stdout")
sys.stderr = _Writer("stderr")


def _picture(kind, data):
    _chat.show(kind, to_js(["", data]))


def _rich(value):
    for method, kind in (("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg")):
        data = getattr(value, method, lambda: None)()
        if isinstance(data, (bytes, bytearray)):
            _picture(kind, bytes(data))
            return True
    for method in ("_repr_html_", "_repr_svg_"):
        text = getattr(value, method, lambda: None)()
        if isinstance(text, str):
            _chat.show("text/html", text)
            return True
    return False


def display(*values):
    """Shows pictures and tables in the chat."""
    for value in values:
        if not _rich(value):
            print(value)


builtins.display = display


def _plots():
    plot = sys.modules.get("matplotlib.pyplot")
    if plot is None:
        return
    for number in plot.get_fignums():
        data = io.BytesIO()
        plot.figure(number).savefig(data, format="png", bbox_inches="tight", dpi=110)
        _picture("image/png", data.getvalue())
    plot.close("all")


def _states():
    found = {}
    for entry in os.scandir(_folder):
        if entry.is_file(follow_symlinks=False) and not entry.name.startswith("."):
            facts = entry.stat()
            found[entry.name] = (facts.st_mtime_ns, facts.st_size)
    return found


def _files(before):
    written = [(name, state) for name, state in _states().items() if before.get(name) != state]
    for name, (_time, size) in written[:_most_files]:
        if size <= _most_bytes:
            with open(f"{_folder}/{name}", "rb") as file:
                kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
                _chat.show(kind, to_js([name, file.read()]))


def _failure(error):
    """The part of the traceback that is about the code that was run."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != "code.py":
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    _chat.write("stderr", text)


async def _run(code):
    before = _states()
    _Writer.printed = 0
    answer = {"status": "success", "result": "", "missing": None}
    try:
        value = await eval_code_async(code, _scope, filename="code.py")
        _plots()
        if value is not None:
            _scope["_"] = value
            _rich(value)
            answer["result"] = repr(value)[:100_000]
    except SystemExit:
        pass
    except BaseException as error:
        answer["status"] = "error"
        if isinstance(error, ModuleNotFoundError) and error.name:
            answer["missing"] = error.name.split(".")[0]
        _failure(error)
    try:
        _files(before)
    except MemoryError:
        _chat.write("stderr", "The files that were written do not fit into the memory.\n")
    return json.dumps(answer)
