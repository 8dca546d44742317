class Golden:
    def reset(self):
        self.count = 0

    def outputs(self, i):
        return {"count": self.count, "wrap": int(i["en"] and self.count == 9)}

    def clock(self, i):
        if i["en"]:
            self.count = (self.count + 1) % 10


def directed():
    return {"wrap": [{"en": 1}] * 25, "reset_at_7": [{"en": 1}] * 7 + [{"rst_n": 0}] + [{}] * 3}
