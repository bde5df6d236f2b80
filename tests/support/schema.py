"""JSON Schema, as much of it as the schema of the chart's values uses."""

import re

TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def _has_type(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _inner(schema, value, path):
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    for name, one in value.items():
        here = f"{path}.{name}" if path else name
        if name in known:
            yield from find_problems(known[name], one, here)
        elif rest is False:
            yield f"{here}: unknown"
        elif rest is not True:
            yield from find_problems(rest, one, here)


def find_problems(schema, value, path=""):
    """One line each."""
    assert set(schema) <= {"$schema", "title", "description", "type", "properties", "additionalProperties", "items", "enum", "const", "anyOf",
                           "minimum", "maximum", "pattern"}, set(schema)
    types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if types and not any(_has_type(value, name) for name in types):
        return [f"{path}: no {' or '.join(types)}"]
    if "anyOf" in schema:
        tried = [find_problems(one, value, path) for one in schema["anyOf"]]
        return [] if [] in tried else tried[-1]
    if "const" in schema and value != schema["const"]:
        return [f"{path}: not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: none of {', '.join(schema['enum'])}"]
    if isinstance(value, int) and value < schema.get("minimum", value):
        return [f"{path}: less than {schema['minimum']}"]
    if isinstance(value, int) and value > schema.get("maximum", value):
        return [f"{path}: more than {schema['maximum']}"]
    if "pattern" in schema and re.search(schema["pattern"], value) is None:
        return [f"{path}: not of the form {schema['pattern']}"]
    if isinstance(value, dict):
        return list(_inner(schema, value, path))
    if isinstance(value, list) and "items" in schema:
        return [line for at, one in enumerate(value) for line in find_problems(schema["items"], one, f"{path}.{at}")]
    return []
