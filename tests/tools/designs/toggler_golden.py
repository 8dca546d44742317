class Golden:
    def reset(self):
        self.sum = 0

    def outputs(self, i):
        return {"sum": self.sum}

    def clock(self, i):
        self.sum = (self.sum + i["step"]) & 15


def directed():
    return {"steps": [{"step": k} for k in (1, 2, 3, 15, 0, 7)]}
