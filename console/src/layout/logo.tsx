import icon from './icon.svg'

export function Logo() {
  return (
    <div className="logo">
      <img src={icon} alt="" width={28} height={28} />
      <span>Petstore</span>
    </div>
  )
}
