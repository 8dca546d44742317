// VS Code's modules import style sheets, which Node cannot load.
import { register } from "node:module";

const source = `export async function load(url, context, next) {
  return url.endsWith(".css") ? { format: "module", source: "export default {}", shortCircuit: true } : next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(source)}`);
