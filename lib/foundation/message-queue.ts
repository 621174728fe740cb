/**
 * Maximum delay of an SQS message.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-timers.html
 */
export const maxQueueDelaySeconds = 900;

export interface SendOptions {
  /** Seconds until the messages are visible; at most `maxQueueDelaySeconds`. */
  readonly delaySeconds?: number;
  /** Name of the app, for SQS fair queues: the backlog of one app must not delay the messages of other apps. */
  readonly group?: string;
}

/** A queue of messages for a worker. */
export interface MessageQueue {
  /** Throws `ConnectionFailed` if a message could not be enqueued; other messages can be enqueued nevertheless. */
  send(messages: readonly object[], options?: SendOptions): Promise<void>;
}

export interface ReceivedMessage {
  readonly body: string;
  /** Identifies the message while it is received. */
  readonly handle: string;
}

/** The messages of a queue without a worker. */
export interface MessageInbox {
  /** Receives all visible messages, at most 10,000, which are invisible for five minutes. */
  receiveAll(): Promise<ReceivedMessage[]>;
  /** Makes received messages visible again. */
  release(messages: readonly ReceivedMessage[]): Promise<void>;
  delete(messages: readonly ReceivedMessage[]): Promise<void>;
}
