/** The streamed part of the root's latest answer. If the instance is lost, no other copy of it is left. */
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
