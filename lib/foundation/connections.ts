import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import type { AwsRequestHandler } from './outgoing/aws-client.ts';
import { secondMs } from './time.ts';

/**
 * Time for one connection attempt to a host with IPv4 and IPv6 addresses. Node's default of 250 ms is too short for a
 * distant host, and the next address is then an IPv6 address, which Lambda cannot reach.
 * @see https://nodejs.org/api/net.html#netsetdefaultautoselectfamilyattempttimeoutvalue
 */
const connectionAttemptTimeoutMs = 3 * secondMs;

/** Sets the time for connection attempts of this process, for webhooks and store calls. */
export const setConnectionAttemptTimeout = (): void =>
  setDefaultAutoSelectFamilyAttemptTimeout(connectionAttemptTimeoutMs);

/** Configuration of AWS clients. */
export interface AwsClientOptions {
  readonly maxAttempts?: number;
  readonly requestHandler?:
    | AwsRequestHandler
    | {
        readonly connectionTimeout: number;
        readonly requestTimeout: number;
        readonly throwOnRequestTimeout: boolean;
        readonly listPending?: never;
      };
}

/**
 * Options for AWS. A lost connection must fail while the function has time to retry: by default, the SDK waits without
 * limit. Every operation of the service is idempotent or conditional.
 */
export const awsClientOptions = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: secondMs, requestTimeout: 5 * secondMs, throwOnRequestTimeout: true },
};
