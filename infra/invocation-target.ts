/** What API Gateway, queues, streams and schedules invoke: a function, or the alias of its released version. */
export interface InvocationTarget {
  readonly arn: string;
  /** The value of `Ref`, with which an event source mapping names it. */
  readonly name: string;
  /** Name of the function without its version. */
  readonly functionName: string;
  readonly qualifier: string;
}
