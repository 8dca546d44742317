STREAMS = [
    {"name": "in", "direction": "input", "data": ["in_data"], "valid": "in_valid", "ready": "in_ready"},
    {"name": "out", "direction": "output", "data": ["out_data"], "valid": "out_valid", "ready": "out_ready"},
]
MAX_LATENCY = 4


def transact(items):
    return {"out": [x["in_data"] ** 2 for x in items["in"]]}


def directed_items():
    return {"corners": {"in": [0, 1, 255, 128, 16]}}
