import { fileURLToPath } from 'node:url';
import { computeSourceDigest } from '../../infra/source-digest.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** Compares the deployed code with the code of the folder of this command line. */
export async function checkVersion(deployedDigest: string): Promise<readonly Finding[]> {
  const digest = computeSourceDigest(projectFolder);
  if (digest === deployedDigest) return [];
  return [
    createFinding('version-different', {
      problem: `The deployed code (${deployedDigest}) differs from the code of this folder (${digest}).`,
      cure: 'Deploy this version, or check out the deployed version before you run commands: a command of a different version may write items that the functions do not expect.',
    }),
  ];
}
