import type { AwsRequest, AwsRequestHandler } from '../lib/foundation/outgoing/aws-client.ts';
import { decideAccess, getServiceName, isTableWrite } from './iam-actions.ts';
import type { IamPolicies } from './iam-policies.ts';
import type { CallDecision } from './iam-usage.ts';

/** Where AWS calls go, and what they may do. */
export interface AwsAccess {
  readonly policies: IamPolicies;
  /** Endpoint of each service: see `getServiceName`. */
  readonly endpoints: Readonly<Record<string, string>>;
}

interface Caller {
  /** Logical id of the function or the managed policy. */
  readonly id: string;
  /** On Lambda, an ended instance makes no call and receives no response. */
  readonly isEnded: () => boolean;
  readonly onCall: (call: CallDecision) => void;
  readonly onWrite: () => void;
}

/**
 * Creates the HTTP handler for the AWS clients of a function or a command. A call goes to the engine of its service if
 * the policies of the caller allow it. Otherwise its response is `AccessDeniedException`.
 */
export function createCheckedHandler(
  { id: callerId, isEnded, onCall, onWrite }: Caller,
  { policies, endpoints }: AwsAccess,
  inner: AwsRequestHandler,
): AwsRequestHandler {
  return {
    ...inner,
    async handle(request, options) {
      if (isEnded()) return await never();
      const call = { target: request.headers['x-amz-target'] ?? '', body: readBody(request) };
      const decision = decideAccess(policies, callerId, call);
      onCall({ callerId, target: call.target, decision });
      if ('denial' in decision) return { response: toDeniedResponse(decision.denial) };
      const { hostname, port } = new URL(endpoints[getServiceName(call)] ?? '');
      const { method, path, headers, body } = request;
      const local = { protocol: 'http:', hostname, port: Number(port), method, path, headers };
      const result = await inner.handle({ ...local, ...(body !== undefined && { body }) }, options);
      if (isTableWrite(call)) onWrite();
      return isEnded() ? await never() : result;
    },
  };
}

const never = async (): Promise<never> => await new Promise(() => {});

const readBody = ({ body = '' }: AwsRequest): string =>
  typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');

const toDeniedResponse = (denial: string) => ({
  statusCode: 400,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: denial })),
});
