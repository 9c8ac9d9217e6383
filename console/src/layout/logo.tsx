import icon from './icon.svg'

/** `shop` is its name, if it has one. */
export function Logo({ shop = '' }: { shop?: string | undefined }) {
  return (
    <div className="logo">
      <img src={icon} alt="" width={28} height={28} />
      <span>
        Petstore
        {shop !== '' && <small title={shop}>{shop}</small>}
      </span>
    </div>
  )
}
