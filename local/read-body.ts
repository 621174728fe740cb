import type { IncomingMessage } from 'node:http';

/**
 * Reads the whole body of a request or a response. `node:stream/consumers` creates a Blob, which takes a third of the
 * processor time of a local call.
 */
export async function readBody(message: IncomingMessage): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', reject)
      .once('close', () => {
        if (!message.complete) reject(new Error('The connection was closed.'));
      });
  });
}
