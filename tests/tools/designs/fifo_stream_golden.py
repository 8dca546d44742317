STREAMS = [
    {"name": "in", "direction": "input", "data": ["wr_data"], "valid": "wr_en", "ready": "!full"},
    {"name": "out", "direction": "output", "data": ["rd_data"], "valid": "!empty", "ready": "rd_en"},
]
MAX_LATENCY = 1


def transact(items):
    return {"out": [{"rd_data": x["wr_data"]} for x in items["in"]]}


def directed_items():
    return {"ramp": {"in": [{"wr_data": k} for k in range(20)]}}
