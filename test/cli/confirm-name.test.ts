import { describe, expect, it } from '@jest/globals';
import { InvalidArgumentError } from 'commander';
import { confirmName } from '../../cli/confirm-name.ts';

describe('confirmName', () => {
  const prompt = { question: 'Type the name:', option: '--confirm <name>' };

  it('rejects a missing confirmation without a terminal as wrong usage, which ends with exit code 2', async () => {
    await expect(confirmName('ann', undefined, prompt)).rejects.toThrow(InvalidArgumentError);
  });

  it('rejects another name', async () => {
    await expect(confirmName('ann', 'bob', prompt)).rejects.toMatchObject({ code: 'InvalidPayload' });
    await expect(confirmName('ann', 'ann', prompt)).resolves.toBeUndefined();
  });
});
