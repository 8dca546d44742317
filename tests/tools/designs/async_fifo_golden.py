STREAMS = [
    {"name": "wr", "direction": "input", "data": "wr_data", "valid": "wr_en", "ready": "!full", "clock": "wr_clk"},
    {
        "name": "rd",
        "direction": "output",
        "data": ["rd_data"],
        "valid": "!empty",
        "ready": "rd_en",
        "clock": "rd_clk",
        "data_delay": 1,
    },
]
RESETS = {"rd_rst_n": "low"}


def transact(items):
    return {"rd": [x["wr_data"] for x in items["wr"]]}
