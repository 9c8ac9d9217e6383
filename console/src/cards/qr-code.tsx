// A QR code as one path of an image. Each dark module is a square of one unit.
import { create } from 'qrcode'

/** The empty border that readers need. */
const BORDER = 4

export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = create(text, { errorCorrectionLevel: 'M' }).modules
  const squares = Array.from(data).flatMap((isDark, at) =>
    isDark ? [`M${(at % size) + BORDER} ${Math.floor(at / size) + BORDER}h1v1h-1z`] : [],
  )
  const side = size + 2 * BORDER
  return (
    <svg
      className="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <path fill="#fff" d={`M0 0h${side}v${side}H0z`} />
      <path fill="#000" d={squares.join('')} />
    </svg>
  )
}
