import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, expect, it } from '@jest/globals';
import { createLocalNames } from '../../local/local-names.ts';
import { startQueueServer } from '../../local/queue-server.ts';

const server = await startQueueServer();
afterAll(async () => await server.close());

const queue = { Type: 'AWS::SQS::Queue', Properties: {} };
const template = { Resources: { Queuesletters8CCF9452: queue, QueuesparcelsdeadFB8F6EF9: queue, Empty: queue } };

it('countMessages counts waiting, delayed and in-flight messages', async () => {
  const names = createLocalNames(template, { run: 'run', getQueueUrl: server.getUrl });
  await server.createQueues(template, names);
  expect(await server.countMessages()).toEqual({});
  const send = async (id: string, DelaySeconds = 0) => {
    await server.client.send(new SendMessageCommand({ QueueUrl: names.ref(id), MessageBody: 'hello', DelaySeconds }));
  };
  await send('Queuesletters8CCF9452');
  await server.client.send(new ReceiveMessageCommand({ QueueUrl: names.ref('Queuesletters8CCF9452') }));
  await send('Queuesletters8CCF9452');
  await send('Queuesletters8CCF9452', 900);
  await send('QueuesparcelsdeadFB8F6EF9');
  expect(await server.countMessages()).toEqual({ letters: 3, 'parcels (dead letters)': 1 });
});
