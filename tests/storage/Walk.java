import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.zip.GZIPInputStream;

/** Reads an NBT file as Minecraft does and prints how many values of each kind it holds; fails on anything left over. */
public final class Walk {
    private static final int[] COUNT = new int[13];
    private static long letters;

    public static void main(String[] files) throws IOException {
        for (String file : files) {
            java.util.Arrays.fill(COUNT, 0);
            letters = 0;
            try (DataInputStream in = new DataInputStream(new GZIPInputStream(new FileInputStream(file)))) {
                byte tag = in.readByte();
                in.readUTF();
                payload(in, tag);
                if (in.read() != -1) throw new IOException("bytes behind the root");
            }
            StringBuilder line = new StringBuilder();
            for (int count : COUNT) line.append(count).append(' ');
            System.out.println(line.append(letters));
        }
    }

    private static void payload(DataInputStream in, byte tag) throws IOException {
        COUNT[tag]++;
        switch (tag) {
            case 1 -> in.readByte();
            case 2 -> in.readShort();
            case 3 -> in.readInt();
            case 4 -> in.readLong();
            case 5 -> in.readFloat();
            case 6 -> in.readDouble();
            case 7 -> in.readFully(new byte[in.readInt()]);
            case 8 -> letters += in.readUTF().length();
            case 9 -> {
                byte kind = in.readByte();
                for (int left = in.readInt(); left > 0; left--) payload(in, kind);
            }
            case 10 -> {
                for (byte kind = in.readByte(); kind != 0; kind = in.readByte()) {
                    letters += in.readUTF().length();
                    payload(in, kind);
                }
            }
            case 11 -> { for (int left = in.readInt(); left > 0; left--) in.readInt(); }
            case 12 -> { for (int left = in.readInt(); left > 0; left--) in.readLong(); }
            default -> throw new IOException("tag " + tag);
        }
    }
}
