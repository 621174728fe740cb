import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { once } from './cache.ts';
import { type AwsClientOptions, awsClientOptions, createRequestHandler } from './outgoing/aws-client.ts';
import type { Service } from './service.ts';
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

/** An instance of a function: its settings of AWS clients, and its service record from the first request on. */
export interface Container {
  readonly clientOptions: AwsClientOptions;
  service?: Service;
}

/** The engines of the local runtime share a machine with the service and can be slow. */
export const createContainer = once((): Container => {
  const isLocal = process.env.AWS_ENDPOINT_URL_DYNAMODB !== undefined;
  const { maxAttempts, requestHandler } = awsClientOptions;
  const { connectionTimeout: connectTimeoutMs, requestTimeout: timeoutMs } = requestHandler;
  return {
    clientOptions: isLocal
      ? { requestHandler: createRequestHandler() }
      : { maxAttempts, requestHandler: createRequestHandler({ connectTimeoutMs, timeoutMs }) },
  };
});

let findContainer: () => Container | undefined = createContainer;

/** Lets one process run several instances, as `npm start` does. On Lambda, an instance has its own process. */
export function setContainerLookup(find: () => Container | undefined): void {
  findContainer = find;
}

export const getContainer = (): Container => findContainer() ?? createContainer();

/** Returns the settings of the AWS clients of this container. */
export const clientOptions = (): AwsClientOptions => getContainer().clientOptions;
