import { buildFunctionArn } from './local-names.ts';
import type { StreamRecord } from './stream-batch.ts';

/** Records of one shard that were given up, and the last call that was made with them. */
export interface StreamFailure {
  readonly records: readonly StreamRecord[];
  readonly shardId: string;
  /** The function's name. */
  readonly name: string;
  readonly requestId: string;
  /** How often the function was called with them. */
  readonly invocations: number;
  /** Whether the last call failed, rather than giving records back. */
  readonly isError: boolean;
}

/**
 * What Lambda sends to the destination for failures: where the records lie in the stream, never the records.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
 */
export const buildFailureMessage = ({ records, shardId, name, requestId, invocations, isError }: StreamFailure) => ({
  requestContext: {
    requestId,
    functionArn: buildFunctionArn(name),
    condition: 'RetryAttemptsExhausted',
    approximateInvokeCount: invocations,
  },
  responseContext: { statusCode: 200, executedVersion: '$LATEST', ...(isError && { functionError: 'Unhandled' }) },
  version: '1.0',
  timestamp: new Date().toISOString(),
  DDBStreamBatchInfo: {
    shardId,
    startSequenceNumber: records[0]?.dynamodb.SequenceNumber,
    endSequenceNumber: records.at(-1)?.dynamodb.SequenceNumber,
    approximateArrivalOfFirstRecord: toArrivalTime(records[0]),
    approximateArrivalOfLastRecord: toArrivalTime(records.at(-1)),
    batchSize: records.length,
    streamArn: records[0]?.eventSourceARN,
  },
});

/** To the second, as DynamoDB tells it. */
function toArrivalTime(record: StreamRecord | undefined): string | undefined {
  const seconds = record?.dynamodb.ApproximateCreationDateTime;
  return seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
}
