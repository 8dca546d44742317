class Golden:
    def reset(self):
        self.previous = 0
        self.pulse = 0

    def outputs(self, i):
        return {"pulse": self.pulse}

    def clock(self, i):
        self.pulse = i["a"] & ~self.previous
        self.previous = i["a"]


def directed():
    return {"rise_and_fall": [{"a": 0}, {"a": 1}, {}, {"a": 0}, {"a": 0xFF}, {}, {"a": 0x0F}, {"a": 0xF0}, {}]}
