import { createContext } from 'preact';

/** A text on a day of the charts, such as a release. */
export interface ChartNote {
  /** `2026-03-01`. */
  readonly date: string;
  readonly text: string;
}

/** The annotations that all charts of a page show. */
export const ChartNotes = createContext<readonly ChartNote[]>([]);
