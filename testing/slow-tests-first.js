import TestSequencer from '@jest/test-sequencer';

/**
 * Folders whose suites start whole services, browsers or synthesize the stack. The first one has the slowest suites.
 */
const slowFolders = ['acceptance', 'console', 'local', 'infra'];

/**
 * Runs slow suites first, so that no worker ends the run alone with a long one: by the duration of the last run, which
 * jest records, and without such a record by folder and size.
 */
// biome-ignore lint/style/noDefaultExport: jest loads the default export.
export default class SlowTestsFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (tests.every(({ duration }) => duration !== undefined)) return sorted;
    return slowFolders
      .toReversed()
      .reduce((ordered, folder) => moveToFront(ordered, ({ path }) => path.includes(`/test/${folder}/`)), sorted);
  }
}

const moveToFront = (tests, isFirst) => [...tests.filter(isFirst), ...tests.filter((test) => !isFirst(test))];
