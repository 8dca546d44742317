/*
 * Search runs in a worker, and a browser refuses to start one for a page that was opened from disk. There, a hidden
 * frame takes its place. The theme's own remedy would come from a network; it is left out for a file of this name.
 */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc =
        // A worker answers without naming a target; what has one is our own question.
        "<script>const native = self.postMessage.bind(self); self.postMessage = (data, target) => " +
        "target ? native(data, target) : parent.postMessage(data, '*')</script>" +
        `<script src="${address.toString()}"></script>`
      this.frame.addEventListener("load", () => {
        const waiting = this.waiting
        this.waiting = null
        for (const data of waiting) this.postMessage(data)
      })
      window.addEventListener("message", (event) => {
        if (event.source === this.frame.contentWindow)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }))
      })
      document.documentElement.append(this.frame)
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow.postMessage(data, "*")
    }
  }
}
