class Golden:
    def reset(self):
        self.bits = []

    def outputs(self, i):
        if len(self.bits) < 4:
            return {"q": None}
        return {"q": int("".join(map(str, self.bits[-4:])), 2)}

    def clock(self, i):
        if i["en"]:
            self.bits.append(i["d"])


def directed():
    return {"shift": [{"en": 1, "d": int(c)} for c in "110100111"], "hold": [{"en": 0, "d": 1}, {"d": 0}, {}]}
