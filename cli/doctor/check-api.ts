import { getVersion } from '../../lib/api/service.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { createClockFinding, isClockWrong } from '../../lib/health/clock.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

const timeoutMs = 10 * secondMs;

interface ApiCheck {
  readonly apiUrl: string;
  readonly now: () => number;
  /** The API has the clock of this machine's real time, which a local service does not use. */
  readonly comparesClock: boolean;
}

/** Requests the version of the API. Also compares the clock of this machine with the `Date` header. */
export async function checkApi({ apiUrl, now, comparesClock }: ApiCheck): Promise<readonly Finding[]> {
  const response = await fetch(apiUrl + getVersion.path, { signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error: Error & { readonly cause?: { readonly code?: string } }) => error.cause?.code ?? error.name,
  );
  if (typeof response === 'string') return [createUnreachableFinding(apiUrl, response)];
  const receivedAt = now();
  await response.arrayBuffer();
  if (response.status !== 200) return [createUnreachableFinding(apiUrl, `HTTP ${response.status}`)];
  const date = Date.parse(response.headers.get('date') ?? '');
  const offsetMs = Number.isNaN(date) ? undefined : receivedAt - date;
  return comparesClock && isClockWrong(offsetMs) ? [createClockFinding(offsetMs)] : [];
}

const createUnreachableFinding = (apiUrl: string, reason: string): Finding =>
  createFinding('api-unreachable', {
    problem: `The API at ${apiUrl} does not respond to GET ${getVersion.path}: ${reason}.`,
    cure: 'Check the DNS record and the certificate of a domain name, the rate limit of the stage after a restore, and the log of get-version.',
  });
