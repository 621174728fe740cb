import { describe, expect, it } from '@jest/globals';
import { decideAccess } from '../../local/iam-actions.ts';
import { readIamPolicies } from '../../local/iam-policies.ts';
import { createLocalNames } from '../../local/local-names.ts';

const allow = (Action: string | string[], Resource: unknown) => ({ Effect: 'Allow', Action, Resource });
const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const allowKeys = (Action: string[], operator: string, patterns: string[]) => ({
  ...allow(Action, arnOf('Table')),
  Condition: { [`ForAllValues:${operator}`]: { 'dynamodb:LeadingKeys': patterns } },
});
const policy = (role: string, Statement: object[]) => ({
  Type: 'AWS::IAM::Policy',
  Properties: { PolicyDocument: { Statement }, Roles: [{ Ref: role }] },
});
const lambda = (role: string) => ({ Type: 'AWS::Lambda::Function', Properties: { Role: arnOf(role) } });

const template = {
  Resources: {
    Table: { Type: 'AWS::DynamoDB::Table' },
    Queue: { Type: 'AWS::SQS::Queue' },
    Secret: { Type: 'AWS::SecretsManager::Secret' },
    ReaderRole: { Type: 'AWS::IAM::Role' },
    WriterRole: { Type: 'AWS::IAM::Role' },
    ReaderPolicy: policy('ReaderRole', [
      allow(['dynamodb:GetItem', 'dynamodb:Query'], arnOf('Table')),
      allow('dynamodb:Query', { 'Fn::Join': ['', [arnOf('Table'), '/index/by*']] }),
    ]),
    WriterPolicy: policy('WriterRole', [
      allow('dynamodb:*', arnOf('Table')),
      allow('sqs:SendMessage', arnOf('Queue')),
      allow('secretsmanager:GetSecretValue', { Ref: 'Secret' }),
    ]),
    SenderPolicy: policy('SenderRole', [
      allowKeys(['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:BatchWriteItem'], 'StringLike', ['*#D#*']),
    ]),
    AppReaderPolicy: policy('AppReaderRole', [allowKeys(['dynamodb:BatchWriteItem'], 'StringNotLike', ['APP#*'])]),
    SenderRole: { Type: 'AWS::IAM::Role' },
    AppReaderRole: { Type: 'AWS::IAM::Role' },
    Sender: lambda('SenderRole'),
    AppReader: lambda('AppReaderRole'),
    Reader: lambda('ReaderRole'),
    Writer: lambda('WriterRole'),
    Inline: lambda('InlineRole'),
    InlineRole: {
      Type: 'AWS::IAM::Role',
      Properties: {
        Policies: [{ PolicyDocument: { Statement: [allow('dynamodb:GetItem', arnOf('Table'))] } }],
      },
    },
    Bare: lambda('BareRole'),
    BareRole: { Type: 'AWS::IAM::Role' },
  },
};

const names = createLocalNames(template, { run: 'run', getQueueUrl: (name) => `http://queues/${name}` });
const permissions = readIamPolicies(template, names);
const decide = (id: string, target: string, body: object) =>
  decideAccess(permissions, id, { target, body: JSON.stringify(body) });
const may = (id: string, target: string, body: object): boolean => 'accesses' in decide(id, target, body);

const TableName = 'run-Table';
const database = (operation: string) => `DynamoDB_20120810.${operation}`;

describe('IAM policies', () => {
  it.each([
    ['GetItem', { TableName }, true],
    ['Query', { TableName, IndexName: 'byKey' }, true],
    ['Query', { TableName, IndexName: 'due' }, false],
    ['Query', { TableName: 'another' }, false],
    ['PutItem', { TableName }, false],
    ['BatchGetItem', { RequestItems: { [TableName]: {} } }, false],
    ['TransactWriteItems', { TransactItems: [{ Put: { TableName } }] }, false],
  ])('allow or deny a read: %s %j', (operation, body, allowed) => {
    expect(may('Reader', database(operation), body)).toBe(allowed);
    expect(may('Bare', database(operation), body)).toBe(false);
  });

  it('include the inline policies of a role', () => {
    expect(may('Inline', database('GetItem'), { TableName })).toBe(true);
    expect(may('Inline', database('Query'), { TableName })).toBe(false);
  });

  const Item = (pk: string) => ({ pk: { S: pk }, sk: { S: 'x' } });
  const batch = (...keys: string[]) => ({
    RequestItems: { [TableName]: keys.map((pk) => ({ PutRequest: { Item: Item(pk) } })) },
  });
  it.each([
    ['Sender', 'UpdateItem', { TableName, Key: Item('app#D#1') }, true],
    ['Sender', 'UpdateItem', { TableName, Key: Item('app#P#1') }, false],
    ['Sender', 'TransactWriteItems', { TransactItems: [{ Put: { TableName, Item: Item('app#D#1') } }] }, true],
    ['Sender', 'TransactWriteItems', { TransactItems: [{ Put: { TableName, Item: Item('app#P#1') } }] }, false],
    ['Sender', 'BatchWriteItem', batch('app#D#1', 'app#D#2'), true],
    ['Sender', 'BatchWriteItem', batch('app#D#1', 'APP#app'), false],
    ['AppReader', 'BatchWriteItem', batch('app#D#1', 'app#P#1'), true],
    ['AppReader', 'BatchWriteItem', batch('app#D#1', 'APP#app'), false],
  ])('allow or deny a write of %s by its leading keys: %s %j', (id, operation, body, allowed) => {
    expect(may(id, database(operation), body)).toBe(allowed);
  });

  it.each([
    [database('TransactWriteItems'), { TransactItems: [{ Put: { TableName } }, { Delete: { TableName } }] }, true],
    [database('TransactWriteItems'), { TransactItems: [{ Put: { TableName } }, { Put: { TableName: 'b' } }] }, false],
    [database('BatchWriteItem'), { RequestItems: { [TableName]: [] } }, true],
    ['AmazonSQS.SendMessageBatch', { QueueUrl: 'http://queues/run-Queue' }, true],
    ['AmazonSQS.ReceiveMessage', { QueueUrl: 'http://queues/run-Queue' }, false],
    ['secretsmanager.GetSecretValue', { SecretId: names.ref('Secret') }, true],
    ['secretsmanager.GetSecretValue', { SecretId: 'another' }, false],
  ])('allow or deny a write: %s %j', (target, body, allowed) => {
    expect(may('Writer', target, body)).toBe(allowed);
    expect(may('Reader', target, body)).toBe(false);
  });

  it('reject an unknown caller and an unknown operation', () => {
    const denial = (text: string) => ({ denial: expect.stringContaining(text) });
    expect(decide('local', database('GetItem'), { TableName })).toEqual(denial('local is neither a function'));
    expect(decide('Writer', 'Kinesis.PutRecord', {})).toEqual(denial('does not run on this machine'));
  });
});
