/** A DynamoDB stream record in the format of Lambda events. */
export interface StreamRecord {
  readonly eventSourceARN: string;
  readonly dynamodb: {
    readonly SequenceNumber: string;
    /** Epoch seconds. */
    readonly ApproximateCreationDateTime?: number;
    readonly [member: string]: unknown;
  };
  readonly [member: string]: unknown;
}
