/** A program of this project that runs from a bundle. */
interface BundledProgram {
  /** Name of its folder in `dist`. */
  readonly name: string;
  /** Words for the person who waits for the build. */
  readonly title: string;
  /** Files and folders that it is built from, in addition to the list of packages. */
  readonly sources: readonly string[];
  /** Path of its first source. */
  readonly entry: string;
  /** Path of the source that writes the bundle into the folder of its argument. */
  readonly builder: string;
}
export function findBundle(program: Pick<BundledProgram, 'name' | 'sources'>): string;
export function runProgram(program: BundledProgram): Promise<void>;
export const servicePrograms: BundledProgram;
