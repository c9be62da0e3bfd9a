// The parts of engines' types that the examples use. The engines run in workflow.test.mjs and long/restate.test.mjs.
declare module "cloudflare:workers" {
  export interface WorkflowEvent<T> {
    readonly instanceId: string;
    readonly payload: T;
  }
  export interface WorkflowStep {
    do<T extends string | number | boolean | object>(name: string, work: () => Promise<T>): Promise<T>;
  }
  export abstract class WorkflowEntrypoint<Env, T> {
    protected env: Env;
    abstract run(event: WorkflowEvent<T>, step: WorkflowStep): Promise<unknown>;
  }
}
declare module "@restatedev/restate-sdk" {
  export interface Context {
    readonly rand: { uuidv4(): string };
    run<T>(name: string, work: () => Promise<T>): Promise<T> & { map(mapper: unknown): unknown };
  }
  export function service(service: { name: string; handlers: object }): object;
  export function serve(options: { services: object[] }): Promise<number>;
}
