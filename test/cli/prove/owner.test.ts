import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createTerminalOwner } from '../../../cli/prove/owner.ts';
import type { ProofStep } from '../../../cli/prove/proof-step.ts';

const step = { name: 'cancel', instruction: 'Cancel it.', document: 'https://example.com/cancel' } as ProofStep;

/** Performs a step at a terminal at which the owner types the text. */
async function perform(typed: string, changes: Partial<ProofStep> = {}, isTTY = true) {
  const notes: string[] = [];
  const prompts = new PassThrough();
  const input = Object.assign(new PassThrough(), { isTTY });
  input.write(typed);
  const owner = createTerminalOwner({ note: (text) => void notes.push(text) }, { input, prompts });
  const result = await owner.perform({ ...step, ...changes });
  return { result, notes, prompt: String(prompts.read() ?? '') };
}

describe('createTerminalOwner', () => {
  it.each([
    ['s\n', 'skipped'],
    [' S \n', 'skipped'],
    ['\n', 'done'],
  ])('ends a step after %j as %s', async (typed, result) => {
    expect(await perform(typed)).toMatchObject({
      result,
      notes: ['\ncancel: Cancel it.\n  https://example.com/cancel'],
      prompt: expect.stringContaining('type s to skip the step'),
    });
  });

  it('does not prompt for a step of the store, or without a terminal', async () => {
    const unprompted = { result: 'done', prompt: '' };
    expect(await perform('s\n', { isAutomatic: true })).toMatchObject(unprompted);
    expect(await perform('s\n', {}, false)).toMatchObject(unprompted);
  });
});
