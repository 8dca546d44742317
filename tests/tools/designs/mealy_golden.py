class Golden:
    def reset(self):
        self.last = [0, 0]

    def outputs(self, i):
        return {"z": int([*self.last, i["x"]] == [1, 0, 1])}

    def clock(self, i):
        self.last = [self.last[1], i["x"]]


def directed():
    return {"overlap": [{"x": int(c)} for c in "0101011010011"]}
