/** Receives the number of items that an operation over many items has processed. */
export type ReportProgress = (count: number) => void;
