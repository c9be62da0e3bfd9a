interface Span {
  setAttributes(attributes: object): this;
  addEvent(name: string, attributes: object, time: [number, number]): this;
  setStatus(status: { code: number; message?: string }): this;
  end(time: [number, number]): void;
}
export const trace: {
  getTracer(name: string): { startSpan(name: string, options: object, context: object): Span };
  setSpan(context: object, span: Span): object;
};
export const context: { active(): object };
interface Instrument {
  record(value: number, attributes: object): void;
  add(value: number, attributes: object): void;
}
export const metrics: {
  getMeter(name: string): {
    createHistogram(name: string, options: object): Instrument;
    createCounter(name: string, options: object): Instrument;
  };
};
