class Golden:
    def outputs(self, i):
        return {"carried": int(i["votes"].bit_count() >= 3)}


def directed():
    return {"none": [{"votes": 0}]}
