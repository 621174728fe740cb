/** Bytes of a PNG before the width and the height of its first chunk. */
const sizeOffset = 16;

interface WrappedImage {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/**
 * Wraps a PNG in an SVG, which is text: the functions return text only (infra/gateway-document.ts).
 * @see https://www.w3.org/TR/png-3/#11IHDR
 */
export function wrapImage(png: Buffer): WrappedImage {
  const width = png.readUInt32BE(sizeOffset);
  const height = png.readUInt32BE(sizeOffset + 4);
  const size = `width="${width}" height="${height}"`;
  const image = `<image ${size} href="data:image/png;base64,${png.toString('base64')}"/>`;
  return {
    svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${size}>${image}</svg>\n`,
    width,
    height,
  };
}
