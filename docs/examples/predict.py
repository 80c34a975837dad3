#!/usr/bin/env python3
"""Predicts a scenario and prints some fields of the answer: libforerun by ctypes, which needs no build.

usage: predict.py SCENARIO [PATH=VALUE...] [-- KEY...]

SCENARIO is a file or a shipped name, PATH=VALUE a change; without keys the whole answer is printed as JSON. The library is the one
that the environment variable FORERUN_LIBRARY names, else the installed libforerun.so.0.
"""
import ctypes
import json
import os
import sys

# What is used here of forerun.h: name, what is returned, arguments. Handles are pointers whose inside is the library's own.
FUNCTIONS = (
    ("fr_session_new", "handle", ("text", "error")),
    ("fr_session_free", None, ("handle",)),
    ("fr_scenario_load", "handle", ("handle", "text", "error")),
    ("fr_scenario_parse", "handle", ("handle", "text", "error")),
    ("fr_scenario_set", "bool", ("handle", "text", "text", "error")),
    ("fr_scenario_run", "handle", ("handle", "error")),
    ("fr_scenario_free", None, ("handle",)),
    ("fr_result_json", "text", ("handle",)),
    ("fr_result_unit", "text", ("handle", "text")),
    ("fr_result_free", None, ("handle",)),
    ("fr_error_message", "text", ("handle",)),
    ("fr_error_free", None, ("handle",)),
)
TYPES = {
    None: None,
    "bool": ctypes.c_bool,
    "text": ctypes.c_char_p,
    "handle": ctypes.c_void_p,
    "error": ctypes.POINTER(ctypes.c_void_p),
}


class Error(Exception):
    """What the library says is wrong."""


class Forerun:
    """The library, and a session of it."""

    def __init__(self, library=None, data=None):
        name = library or os.environ.get("FORERUN_LIBRARY") or "libforerun.so.0"
        try:
            self.library = ctypes.CDLL(name)
        except OSError as error:
            raise Error(f"{error}; install libforerun, or name it: FORERUN_LIBRARY=DIR/lib/libforerun.so.0") from error
        for name, returned, arguments in FUNCTIONS:
            function = getattr(self.library, name)
            function.restype = TYPES[returned]
            function.argtypes = [TYPES[argument] for argument in arguments]
        self.session = self.call("fr_session_new", data.encode() if data else None)

    def call(self, name, *arguments):
        """Calls a function that takes an FrError ** last; raises what it sets."""
        error = ctypes.c_void_p()
        returned = getattr(self.library, name)(*arguments, ctypes.byref(error))
        if error.value is not None:
            message = self.library.fr_error_message(error).decode()
            self.library.fr_error_free(error)
            raise Error(message)
        return returned

    def run(self, scenario, sets=(), text=False):
        """The answer to a scenario, by name or path, or from its text: a dict as `forerun run --format json` prints it, and its
        fields' units by key. `sets`: pairs of a path and a value."""
        handle = self.call("fr_scenario_parse" if text else "fr_scenario_load", self.session, scenario.encode())
        try:
            for path, value in sets:
                self.call("fr_scenario_set", handle, path.encode(), value.encode())
            result = self.call("fr_scenario_run", handle)
            try:
                answer = json.loads(self.library.fr_result_json(result))
                units = {key: self.library.fr_result_unit(result, key.encode()).decode() for key in answer["results"]}
                return answer, units
            finally:
                self.library.fr_result_free(result)
        finally:
            self.library.fr_scenario_free(handle)

    def close(self):
        """Frees the session."""
        self.library.fr_session_free(self.session)


def main(arguments):
    """Runs what the command line names. Returns the exit status."""
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    at = arguments.index("--") if "--" in arguments else len(arguments)
    sets, keys = [word.partition("=")[::2] for word in arguments[1:at]], arguments[at + 1 :]
    forerun = None
    try:
        forerun = Forerun()
        answer, units = forerun.run(arguments[0], sets)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        if forerun is not None:
            forerun.close()
    if not keys:
        print(json.dumps(answer, indent=2))
    for warning in answer["warnings"]:
        print("warning:", warning, file=sys.stderr)
    for key in keys:
        if key in units:
            print(key, answer["results"][key], *filter(None, [units[key]]), sep="\t")
        else:
            print(key, "not known", sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
