import { isReviewDue, ratesReviewedOn } from '../lib/apps/commission-rates.ts';

// Fails if the rates of commission must be compared with the pages of the stores again. A schedule runs it, no test.
if (isReviewDue(Date.now())) {
  console.error(`lib/apps/commission-rates.ts was last compared with the stores on ${ratesReviewedOn}.`);
  console.error('Compare its rates with the sources in docs/proceeds.md, and set `ratesReviewedOn`.');
  process.exitCode = 1;
}
