import type { HealthCheck } from '../../lib/health/run-checks.ts';
import { checkAlarmSubscriptions } from './check-alarms.ts';
import { checkApi } from './check-api.ts';
import { checkMappings } from './check-mappings.ts';
import { checkDeadLetters, checkStreamFailures } from './check-queues.ts';
import { checkConcurrencyQuota } from './check-quota.ts';
import { checkTable } from './check-table.ts';
import { checkVersion } from './check-version.ts';
import type { Deployment } from './deployment.ts';

interface CheckContext {
  readonly isLocal: boolean;
  readonly now: () => number;
}

/** Names of the work queues. The stack outputs contain the URLs of their dead-letter queues. */
const queues = ['notifications', 'refreshes', 'webhooks', 'forwards'] as const;

/** Lists the checks of the resources of a deployment. A check whose resource is unknown is skipped with the reason. */
export function listDeploymentChecks(
  deployment: Deployment | undefined,
  { isLocal, now }: CheckContext,
): readonly HealthCheck[] {
  const missing = deployment
    ? 'the stack lacks its output; deploy this version first'
    : 'it requires --stack or --local';
  const check = <T>(name: string, resource: T | undefined, run: (resource: T) => ReturnType<HealthCheck['run']>) => ({
    name,
    skipReason: resource === undefined ? missing : undefined,
    run: async () => (resource === undefined ? [] : await run(resource)),
  });
  const checkAws: typeof check = (name, resource, run) => ({
    ...check(name, resource, run),
    ...(isLocal && { skipReason: 'the local service does not have it' }),
  });
  const resources: Partial<Deployment> = deployment ?? {};
  const { apiUrl, tableName, streamArn, queueArns = [], deadLetterQueueUrls = {} } = resources;
  return [
    check('API', apiUrl, async (url) => await checkApi({ apiUrl: url, now, comparesClock: !isLocal })),
    ...queues.map((queue) =>
      check(
        `dead-letter queue of ${queue}`,
        deadLetterQueueUrls[queue],
        async (url) => await checkDeadLetters(queue, url),
      ),
    ),
    check('stream failures', resources.streamFailuresQueueUrl, checkStreamFailures),
    checkAws('event source mappings', streamArn, async (arn) => await checkMappings([arn, ...queueArns])),
    checkAws('alarm subscription', resources.alarmTopicArn, checkAlarmSubscriptions),
    checkAws('concurrency quota', resources.workerConcurrency, checkConcurrencyQuota),
    checkAws('table protection', tableName, async (name) => await checkTable(name, streamArn)),
    checkAws('version', resources.sourceDigest, checkVersion),
  ];
}
