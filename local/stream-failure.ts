import { buildFunctionArn } from './local-names.ts';
import type { StreamRecord } from './streams-client.ts';

/** Discarded records of one shard, and the last invocation with them. */
export interface StreamFailure {
  readonly records: readonly StreamRecord[];
  readonly shardId: string;
  readonly name: string;
  readonly requestId: string;
  /** Number of invocations with these records. */
  readonly invocations: number;
  /** The last invocation failed as a whole, in contrast to returning failed records. */
  readonly isError: boolean;
}

/**
 * Builds the message that Lambda sends to the `OnFailure` destination: the position of the records, not their content.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
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

/** Formats the time with the precision of DynamoDB: seconds. */
function toArrivalTime(record: StreamRecord | undefined): string | undefined {
  const seconds = record?.dynamodb.ApproximateCreationDateTime;
  return seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
}
