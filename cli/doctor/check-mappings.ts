import { LambdaClient, paginateListEventSourceMappings } from '@aws-sdk/client-lambda';
import { awsClientOptions } from '../../lib/foundation/outgoing/aws-client.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

/**
 * Finds workers whose event source mapping of the stream or of a queue is disabled, as after a restore, or fails.
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_EventSourceMappingConfiguration.html
 */
export async function checkMappings(sourceArns: readonly string[]): Promise<readonly Finding[]> {
  const client = new LambdaClient(awsClientOptions);
  const findings: Finding[] = [];
  for (const EventSourceArn of sourceArns)
    for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, { EventSourceArn }))
      for (const { UUID = '', FunctionArn = '', State = '', LastProcessingResult = '' } of EventSourceMappings) {
        const [, worker = FunctionArn] = /:function:([^:]+)/.exec(FunctionArn) ?? [];
        const isDisabled = /^Disabl/.test(State);
        if (!isDisabled && !LastProcessingResult.startsWith('PROBLEM')) continue;
        const reason = isDisabled ? 'its event source mapping is disabled' : LastProcessingResult.replace(/\.$/, '');
        findings.push(
          createFinding('worker-not-invoked', {
            problem: `The worker ${worker} does not read its stream or queue, so its work waits: ${reason}.`,
            cure: isDisabled
              ? `Run \`aws lambda update-event-source-mapping --uuid ${UUID} --enabled\`. The stream keeps its records for 24 hours.`
              : 'Read the latest errors in the log of the worker. It repeats the records for 12 hours.',
          }),
        );
      }
  return findings;
}
