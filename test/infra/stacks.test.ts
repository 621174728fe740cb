import { describe, expect, it } from '@jest/globals';
import { contracts } from '../../lib/contracts/index.ts';
import type { StackId } from '../../testing/stack-options.ts';
import {
  findResources,
  listProperties,
  listResources,
  readStack,
  type Template,
} from '../../testing/stack-templates.ts';

/** Limits of CloudFormation in one stack are 500 resources, 200 parameters and 200 outputs. */
const countParts = ({ Resources, Parameters = {}, Outputs = {} }: Template) => ({
  resources: Object.keys(Resources).length,
  parameters: Object.keys(Parameters).length,
  outputs: Object.keys(Outputs).length,
});

/** Lists the stack and its nested stacks. */
async function listTemplates(id: StackId): Promise<(readonly [string, Template])[]> {
  const { root, nested } = await readStack(id);
  return [['Claimcheck', root], ...Object.entries(nested)];
}

/** Lists the logical ids in the references and dependencies of a resource, as CloudFormation orders them. */
function listDependencies(resource: unknown): string[] {
  if (typeof resource !== 'object' || resource === null) return [];
  return Object.entries(resource).flatMap(([name, value]) => {
    if (name === 'Ref') return [String(value)];
    if (name === 'Fn::GetAtt') return [String(Array.isArray(value) ? value[0] : value).split('.')[0] ?? ''];
    if (name === 'DependsOn') return [value].flat().map(String);
    return listDependencies(value);
  });
}

/** Returns the resources that are left after all others are created in their order: the resources of a cycle. */
function findCycle({ Resources }: Template): string[] {
  const waiting = new Map(
    Object.entries(Resources).map(([id, resource]) => [
      id,
      listDependencies(resource).filter((dependency) => dependency in Resources && dependency !== id),
    ]),
  );
  for (;;) {
    const ready = [...waiting].filter(([, dependencies]) => dependencies.every((id) => !waiting.has(id)));
    if (ready.length === 0) return [...waiting.keys()];
    for (const [id] of ready) waiting.delete(id);
  }
}

describe('stack and nested stacks', () => {
  it('stay below 400 of the 500 resources of CloudFormation with every option', async () => {
    for (const [id, template] of await listTemplates('every'))
      expect([id, countParts(template).resources < 400]).toEqual([id, true]);
  });

  it('leave room for 60 more endpoints with every option', async () => {
    const templates = await listTemplates('grown');
    const count = templates.flatMap(([, template]) => listResources(template, 'AWS::Lambda::Function')).length;
    const { joined } = await readStack('every');
    expect(count).toBe(listResources(joined, 'AWS::Lambda::Function').length + 60);
    for (const [id, template] of templates) {
      const { resources, parameters, outputs } = countParts(template);
      expect([id, resources <= 350, parameters <= 200, outputs <= 200]).toEqual([id, true, true, true]);
      // AWS limits the policies of a role.
      for (const { Policies = [] } of listProperties(template, 'AWS::IAM::Role'))
        expect(JSON.stringify(Policies).length).toBeLessThan(10_240);
    }
  });

  it('keep every function in its stack when endpoints are added', async () => {
    const [before, after] = [await readStack('every'), await readStack('grown')];
    for (const [id, template] of Object.entries(before.nested)) {
      const ids = Object.keys(findResources(template, 'AWS::Lambda::Function'));
      expect(Object.keys(after.nested[id]?.Resources ?? {})).toEqual(expect.arrayContaining(ids));
    }
  });

  it('contain a nested stack for each area of the contracts, named after it', async () => {
    const areas = new Set(contracts.map(({ area }) => `${area}endpoints`));
    const ids = Object.keys((await readStack('none')).nested).map((id) => id.toLowerCase());
    expect(ids.filter((id) => id.endsWith('endpoints')).sort()).toEqual([...areas, 'notificationendpoints'].sort());
  });

  it.each(['none', 'every', 'canary'] as const)('contain no cyclic references (%s)', async (id) => {
    for (const [stackId, template] of await listTemplates(id))
      expect([stackId, findCycle(template)]).toEqual([stackId, []]);
  });

  it('deploy together: each nested stack is a resource of the stack, and is deleted with it', async () => {
    const { root, nested } = await readStack('every');
    const resources = findResources(root, 'AWS::CloudFormation::Stack');
    expect(Object.keys(resources).sort()).toEqual(Object.keys(nested).sort());
    for (const { DeletionPolicy, Properties } of Object.values(resources)) {
      expect(DeletionPolicy).toBe('Delete');
      expect(Properties.Tags).toEqual([{ Key: 'claimcheck:stage', Value: 'production' }]);
    }
  });

  it('name the outputs of the deployment in the stack', async () => {
    const { root } = await readStack('every');
    // The CDK adds the URL of the stage.
    const names = Object.keys(root.Outputs ?? {}).filter((name) => !name.startsWith('ApiRestApiEndpoint'));
    expect(names.sort()).toEqual([
      'AlarmTopicArn',
      'ApiUrl',
      'DomainTarget',
      'EventRetentionDays',
      'ExportLocations',
      'ForwardsDeadLetterQueueArn',
      'ForwardsDeadLetterQueueUrl',
      'MasterKeyId',
      'NotificationsDeadLetterQueueArn',
      'NotificationsDeadLetterQueueUrl',
      'OperatorPolicyArn',
      'QueueArns',
      'RefreshesDeadLetterQueueArn',
      'RefreshesDeadLetterQueueUrl',
      'RequestsPerKey',
      'StreamArn',
      'StreamFailuresQueueUrl',
      'TableName',
      'WebhooksDeadLetterQueueArn',
      'WebhooksDeadLetterQueueUrl',
      'WebhooksQueueUrl',
      'WorkerConcurrency',
    ]);
  });
});
