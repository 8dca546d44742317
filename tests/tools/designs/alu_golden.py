class Golden:
    def outputs(self, i):
        a, b = i["a"], i["b"]
        y = [a + b, a - b, a & b, a ^ b][i["op"]] & 0xFFFF
        return {"y": y, "zero": int(y == 0)}


def directed():
    corners = [0, 1, 0x7FFF, 0x8000, 0xFFFF]
    return {"corners": [{"op": op, "a": a, "b": b} for op in range(4) for a in corners for b in corners]}
