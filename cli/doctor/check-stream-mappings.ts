import { LambdaClient, paginateListEventSourceMappings } from '@aws-sdk/client-lambda';
import { awsClientOptions } from '../../lib/foundation/connections.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

/**
 * Finds workers whose event source mapping of the stream is disabled, as after a restore, or fails.
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_EventSourceMappingConfiguration.html
 */
export async function checkStreamMappings(EventSourceArn: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings(
    { client: new LambdaClient(awsClientOptions) },
    { EventSourceArn },
  ))
    for (const { UUID = '', FunctionArn = '', State = '', LastProcessingResult: result = '' } of EventSourceMappings) {
      const [, worker = FunctionArn] = /:function:([^:]+)/.exec(FunctionArn) ?? [];
      const isDisabled = /^Disabl/.test(State);
      if (!isDisabled && !result.startsWith('PROBLEM')) continue;
      findings.push(
        createFinding('stream-not-read', {
          problem: `The worker ${worker} does not read the stream, so webhooks or statistics are missing: ${isDisabled ? 'its event source mapping is disabled' : result.replace(/\.$/, '')}.`,
          cure: isDisabled
            ? `Run \`aws lambda update-event-source-mapping --uuid ${UUID} --enabled\`. The stream keeps its records for 24 hours.`
            : 'Read the latest errors in the log of the worker. It repeats the records for 12 hours.',
        }),
      );
    }
  return findings;
}
