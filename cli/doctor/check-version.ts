import { computeSourceDigest } from '../../infra/source-digest.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

/** Compares the deployed code with the code of the working directory, in which npm runs the commands. */
export async function checkVersion(deployedDigest: string): Promise<readonly Finding[]> {
  const digest = computeSourceDigest(process.cwd());
  if (digest === deployedDigest) return [];
  return [
    createFinding('version-different', {
      problem: `The deployed code (${deployedDigest}) differs from the code of this folder (${digest}).`,
      cure: 'Deploy this version, or check out the deployed version before you run commands: a command of a different version may write items that the functions do not expect.',
    }),
  ];
}
