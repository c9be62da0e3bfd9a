/** The streamed part of the root's latest answer. If the instance is lost, no other copy of it is left. */
export class ReceivedText {
  text = "";
  /** The iteration and the attempt of the root's last delta of any kind, and its block. */
  last: { iteration: number; attempt: number; block: number } | undefined;
  #iteration = 0;
  #attempt = 0;

  add(iteration: number, attempt: number, text: string): void {
    if (iteration !== this.#iteration || attempt !== this.#attempt) {
      this.text = "";
      this.#iteration = iteration;
      this.#attempt = attempt;
    }
    this.text += text;
  }
}
