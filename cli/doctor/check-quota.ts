import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { awsClientOptions } from '../../lib/foundation/outgoing/aws-client.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

/** Executions for API requests, streams and schedules while all queue workers are busy. */
const minFreeExecutions = 4;

/**
 * Finds a quota of concurrent executions that the queue workers can exhaust, or nearly. `workerConcurrency` is their
 * maximum.
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html
 */
export async function checkConcurrencyQuota(workerConcurrency: number): Promise<readonly Finding[]> {
  const { AccountLimit: limit } = await new LambdaClient(awsClientOptions).send(new GetAccountSettingsCommand({}));
  const available = limit?.UnreservedConcurrentExecutions ?? limit?.ConcurrentExecutions;
  if (available === undefined) throw new Error('Lambda returned no quota');
  if (available >= workerConcurrency + minFreeExecutions) return [];
  const request =
    'Request a higher quota: `aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`.';
  if (available > workerConcurrency)
    return [
      createFinding('concurrency-quota-small', {
        problem: `The account may run ${available} functions at the same time. A backlog leaves ${available - workerConcurrency} to API requests, streams and schedules: too few for production.`,
        cure: request,
      }),
    ];
  return [
    createFinding('concurrency-quota-low', {
      problem: `The account may run ${available} functions at the same time, and the queue workers alone up to ${workerConcurrency}, so a backlog can fail API requests: too few for production.`,
      cure: `${request} Until it is granted, deploy with \`-c maxConcurrency=2\`.`,
    }),
  ];
}
