import { describe, expect, it } from '@jest/globals';
import { readSection } from '../../testing/documents.ts';
import { everyOption } from '../../testing/stack-options.ts';
import { findResources, listProperties, readStack } from '../../testing/stack-templates.ts';

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const { root } = await readStack('none');
const [policy] = listProperties(root, 'AWS::IAM::ManagedPolicy');
const statements: readonly Statement[] = policy?.PolicyDocument.Statement;

/** Lists the actions that the policy allows on the queues whose ids match. */
const listQueueActions = (pattern: RegExp): string[] => {
  const actions = statements
    .filter(({ Resource }) => pattern.test(JSON.stringify(Resource)))
    .flatMap(({ Action }) => Action)
    .filter((action) => action.startsWith('sqs:'));
  return [...new Set(actions)].sort();
};

describe('OperatorPolicy', () => {
  it('allows the redrive commands of docs/operating/diagnose.md, and the actions that a redrive uses', () => {
    const text = readSection('docs/operating/diagnose.md', 'Redrive');
    const commands = [...text.matchAll(/(?:aws sqs |`)([a-z]+(?:-[a-z]+)+)(?= --)/g)].map(
      ([, command = '']) => command,
    );
    const toAction = (command: string) =>
      `sqs:${command.replace(/(?:^|-)([a-z])/g, (_all, letter) => letter.toUpperCase())}`;
    const documented = new Set([...commands.map(toAction), 'sqs:GetQueueAttributes']);
    expect(listQueueActions(/dead/)).toEqual([...documented].sort());
    expect(listQueueActions(/Queues(notifications|refreshes|webhooks)[0-9A-F]{8}/)).toEqual(['sqs:SendMessage']);
    expect(listQueueActions(/QueuesStreamFailures/)).toEqual([
      'sqs:ChangeMessageVisibility',
      'sqs:DeleteMessage',
      'sqs:GetQueueAttributes',
      'sqs:ReceiveMessage',
    ]);
  });

  it('denies changes of the configuration of resources, and other services', () => {
    const text = JSON.stringify(statements);
    const services = statements.flatMap(({ Action }) => Action).map((action) => action.split(':')[0]);
    expect([...new Set(services)].sort()).toEqual([
      'cloudformation',
      'dynamodb',
      'lambda',
      'secretsmanager',
      'sns',
      'sqs',
    ]);
    expect(text).not.toMatch(
      /:(Set|Create|Update(?!Item)|Put(?!Item)|Delete(?!Item|Message)|Scan|Purge|Publish|Subscribe|Invoke)/,
    );
  });

  it('allows to read the outputs of this stack, and of no other one', () => {
    const [statement] = statements.filter(({ Action }) => [Action].flat().join().startsWith('cloudformation:'));
    expect(statement).toMatchObject({ Action: 'cloudformation:DescribeStacks', Resource: { Ref: 'AWS::StackId' } });
  });

  it('names the policy in the stack outputs and applies it to an adopted table and master key', async () => {
    const [id] = Object.keys(findResources(root, 'AWS::IAM::ManagedPolicy'));
    expect(root.Outputs?.OperatorPolicyArn?.Value).toEqual({ Ref: id });
    const [adopting] = listProperties((await readStack('every')).root, 'AWS::IAM::ManagedPolicy');
    const text = JSON.stringify(adopting?.PolicyDocument);
    expect(text).toContain(`table/${everyOption.tableName}`);
    expect(text).toContain(everyOption.masterKeyArn);
  });
});
