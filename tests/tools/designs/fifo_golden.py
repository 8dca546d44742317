class Golden:
    def reset(self):
        self.items = []

    def outputs(self, i):
        return {
            "full": int(len(self.items) == 4),
            "empty": int(not self.items),
            "rd_data": self.items[0] if self.items else None,
        }

    def clock(self, i):
        write = i["wr_en"] and len(self.items) < 4
        if i["rd_en"] and self.items:
            self.items.pop(0)
        if write:
            self.items.append(i["wr_data"])


def directed():
    fill = [{"wr_en": 1, "wr_data": k + 1} for k in range(6)]
    drain = [{"wr_en": 0, "rd_en": 1}] + [{}] * 5
    return {"fill_and_drain": fill + drain, "both": [*fill[:2], {"wr_data": 9, "rd_en": 1}, {}, {"wr_en": 0}, {}, {}]}
