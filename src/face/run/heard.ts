/** The root's latest answer as far as it was streamed. If the instance is lost, nothing else is left of it. */
export class Heard {
  text = "";
  #iteration = 0;
  #attempt = 0;

  hear(iteration: number, attempt: number, text: string): void {
    if (iteration !== this.#iteration || attempt !== this.#attempt) {
      this.text = "";
      this.#iteration = iteration;
      this.#attempt = attempt;
    }
    this.text += text;
  }
}
