/** A value that this machine cannot measure, with its meaning. Printed with every result that depends on it. */
interface Assumption {
  readonly value: number;
  readonly unit: string;
  readonly meaning: string;
}

/** Assumptions about AWS, the stores and the app's server. */
export const assumptions = {
  tableLatencyMs: { value: 5, unit: 'ms', meaning: 'wait for one DynamoDB call from Lambda' },
  queueLatencyMs: { value: 10, unit: 'ms', meaning: 'wait for one SQS call from Lambda' },
  secretLatencyMs: { value: 20, unit: 'ms', meaning: 'wait for one Secrets Manager call from Lambda' },
  storeLatencyMs: { value: 150, unit: 'ms', meaning: 'wait for one call of a store' },
  webhookLatencyMs: { value: 100, unit: 'ms', meaning: "wait for the app's server to accept a webhook" },
  vcpuMemoryMb: {
    value: 1769,
    unit: 'MB',
    meaning:
      'memory at which a function has one vCPU; less memory has a share of it, and one vCPU is as fast as a core here',
  },
  startShare: { value: 0.01, unit: 'of invocations', meaning: 'start a new instance' },
  runtimeStartMs: { value: 100, unit: 'ms', meaning: 'billed start of the runtime before it imports the bundle' },
  steadyRequestsPerSecond: {
    value: 10,
    unit: '/s',
    meaning: 'requests a second in one stream shard, at the steady rate',
  },
  idleShards: {
    value: 4,
    unit: 'shards',
    meaning: 'of the stream of a table without traffic, each with its share of the markers of a minute',
  },
  streamPollMs: {
    value: 250,
    unit: 'ms',
    meaning: 'interval in which Lambda reads a stream without a batching window',
  },
  messagesPerBatch: { value: 1, unit: 'messages', meaning: 'queue messages in one invocation of a worker' },
  responseHeaderBytes: { value: 300, unit: 'bytes', meaning: 'response headers that API Gateway adds' },
  connectionShare: { value: 0.1, unit: 'of calls', meaning: 'calls of stores and webhooks that open a connection' },
  connectionBytes: { value: 1_000, unit: 'bytes', meaning: 'sent to open a TLS connection' },
  logCompression: { value: 0.2, unit: 'of the size', meaning: 'stored size of log data, which CloudWatch compresses' },
  pollersOfQueue: {
    value: 5,
    unit: 'pollers',
    meaning: 'of Lambda for each queue, each with a 20 s long poll when idle',
  },
  errorHoursShare: {
    value: 0.05,
    unit: 'of hours',
    meaning: 'hours with errors, in which the metrics of log filters have data',
  },
} as const satisfies Record<string, Assumption>;

/** Number of calls that a user causes in a month. Estimates, because they depend on the app. */
export const callsPerUser = {
  'validation, new': { value: 0.1, meaning: 'a purchase every ten months' },
  'validation, repeated': { value: 4, meaning: 'the app validates again about once a week' },
  'read of a customer': { value: 10, meaning: "the app's server checks access every three days" },
  'notification with its webhook': { value: 0.15, meaning: 'renewals, cancellations and refunds of the paying users' },
  refresh: { value: 0.1, meaning: 'scheduled queries of a store' },
  'validation, rejected': { value: 0.02, meaning: 'invalid receipts' },
} as const satisfies Record<string, { readonly value: number; readonly meaning: string }>;

/** Months after which the monthly bill is computed: purchases are never deleted, so their storage grows. */
export const monthsOfData = 12;

export const secondsOfMonth = 30 * 24 * 3600;
