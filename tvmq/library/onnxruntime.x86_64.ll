; 0501b745877e783dabeaadcf476dc9de34e2752890345dba5828f95851148e09 is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'onnxruntime.c'
source_filename = "onnxruntime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.ort_op = type { i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, [4 x ptr], ptr, ptr, ptr, [2 x ptr] }
%struct.text = type { i64, [512 x i8] }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.ort_api_base = type { ptr, ptr }
%struct.ort_api = type { ptr, [25 x ptr], ptr, ptr, ptr, [22 x ptr], ptr, [9 x ptr], ptr, ptr, [2 x ptr], ptr, [9 x ptr], ptr, ptr, ptr, ptr, [7 x ptr], ptr, ptr, [2 x ptr], ptr, ptr, ptr, ptr, [5 x ptr], ptr, ptr, ptr, [172 x ptr], ptr }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.kernel = type { ptr, ptr, i32, [8 x ptr] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.run = type { ptr, ptr, %struct.model_description, ptr, ptr, ptr, ptr }
%struct.block = type { ptr, i64 }
%struct.model_buffer = type { ptr, i64 }
%struct.job = type { ptr, ptr }

@.str = private unnamed_addr constant [58 x i8] c"the library needs onnxruntime 1.17 or newer, and this is \00", align 1
@owner = internal unnamed_addr global ptr null, align 8
@kept_domain = internal global ptr null, align 8
@model_op = internal constant %struct.ort_op { i32 17, ptr null, ptr @get_name, ptr @get_provider, ptr @get_input_type, ptr @count_inputs, ptr @get_output_type, ptr @count_outputs, ptr null, ptr @destroy_kernel, ptr @get_zero, ptr @get_zero, ptr @get_zero, [4 x ptr] zeroinitializer, ptr @create_kernel, ptr @compute, ptr null, [2 x ptr] zeroinitializer }, align 8
@type_number.names = internal unnamed_addr constant [14 x [8 x i8]] [[8 x i8] zeroinitializer, [8 x i8] c"float32\00", [8 x i8] c"uint8\00\00\00", [8 x i8] c"int8\00\00\00\00", [8 x i8] c"uint16\00\00", [8 x i8] c"int16\00\00\00", [8 x i8] c"int32\00\00\00", [8 x i8] c"int64\00\00\00", [8 x i8] zeroinitializer, [8 x i8] c"bool\00\00\00\00", [8 x i8] c"float16\00", [8 x i8] c"float64\00", [8 x i8] c"uint32\00\00", [8 x i8] c"uint64\00\00"], align 16
@.str.3 = private unnamed_addr constant [39 x i8] c"onnxruntime has no memory for a kernel\00", align 1
@.str.4 = private unnamed_addr constant [11 x i8] c"model_hash\00", align 1
@.str.5 = private unnamed_addr constant [123 x i8] c"the ONNX file and the library are of different exports, or the node has no attribute model_hash; take both from one folder\00", align 1
@.str.6 = private unnamed_addr constant [6 x i8] c"tasks\00", align 1
@.str.7 = private unnamed_addr constant [36 x i8] c"the attribute tasks of the node is \00", align 1
@.str.8 = private unnamed_addr constant [27 x i8] c"; give a number from 1 to \00", align 1
@.str.9 = private unnamed_addr constant [36 x i8] c"onnxruntime has no memory for a run\00", align 1
@.str.12 = private unnamed_addr constant [22 x i8] c" and the model takes \00", align 1
@.str.15 = private unnamed_addr constant [7 x i8] c", ...]\00", align 1
@.str.16 = private unnamed_addr constant [2 x i8] c"]\00", align 1

; Function Attrs: nounwind
define ptr @RegisterCustomOps(ptr noundef %0, ptr nocapture noundef readonly %1) local_unnamed_addr #0 {
  %3 = alloca %struct.text, align 8
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.model_description, align 8
  %6 = alloca ptr, align 8
  %7 = alloca %struct.text, align 8
  %8 = getelementptr inbounds %struct.ort_api_base, ptr %1, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = tail call ptr %9() #8
  %11 = load i8, ptr %10, align 1
  %12 = add i8 %11, -48
  %13 = icmp ult i8 %12, 10
  br i1 %13, label %14, label %26

14:                                               ; preds = %2, %14
  %15 = phi i32 [ %22, %14 ], [ 0, %2 ]
  %16 = phi i8 [ %23, %14 ], [ %11, %2 ]
  %17 = phi ptr [ %20, %14 ], [ %10, %2 ]
  %18 = zext i8 %16 to i32
  %19 = mul i32 %15, 10
  %20 = getelementptr inbounds i8, ptr %17, i64 1
  %21 = add i32 %19, -48
  %22 = add i32 %21, %18
  %23 = load i8, ptr %20, align 1
  %24 = add i8 %23, -48
  %25 = icmp ult i8 %24, 10
  br i1 %25, label %14, label %26, !llvm.loop !2

26:                                               ; preds = %14, %2
  %27 = phi i32 [ 0, %2 ], [ %22, %14 ]
  %28 = phi ptr [ %10, %2 ], [ %20, %14 ]
  %29 = phi i8 [ %11, %2 ], [ %23, %14 ]
  %30 = icmp ne i8 %29, 0
  %31 = zext i1 %30 to i64
  %32 = getelementptr i8, ptr %28, i64 %31
  %33 = load i8, ptr %32, align 1
  %34 = add i8 %33, -48
  %35 = icmp ult i8 %34, 10
  br i1 %35, label %36, label %48

36:                                               ; preds = %26, %36
  %37 = phi i32 [ %44, %36 ], [ 0, %26 ]
  %38 = phi i8 [ %45, %36 ], [ %33, %26 ]
  %39 = phi ptr [ %42, %36 ], [ %32, %26 ]
  %40 = zext i8 %38 to i32
  %41 = mul i32 %37, 10
  %42 = getelementptr inbounds i8, ptr %39, i64 1
  %43 = add i32 %41, -48
  %44 = add i32 %43, %40
  %45 = load i8, ptr %42, align 1
  %46 = add i8 %45, -48
  %47 = icmp ult i8 %46, 10
  br i1 %47, label %36, label %48, !llvm.loop !2

48:                                               ; preds = %36, %26
  %49 = phi i32 [ 0, %26 ], [ %44, %36 ]
  %50 = icmp ugt i32 %27, 1
  %51 = icmp eq i32 %27, 1
  %52 = icmp ugt i32 %49, 16
  %53 = select i1 %51, i1 %52, i1 false
  %54 = select i1 %50, i1 true, i1 %53
  br i1 %54, label %56, label %55

55:                                               ; preds = %48
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  br label %60

56:                                               ; preds = %48
  %57 = load ptr, ptr %1, align 8
  %58 = tail call ptr %57(i32 noundef 17) #8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  store ptr null, ptr %6, align 8
  %59 = icmp eq ptr %58, null
  br i1 %59, label %60, label %152

60:                                               ; preds = %55, %56
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %7) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %7, align 8
  %61 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %62 = load ptr, ptr %5, align 8
  %63 = load i8, ptr %62, align 1
  %64 = icmp eq i8 %63, 0
  br i1 %64, label %78, label %65

65:                                               ; preds = %60, %70
  %66 = phi i8 [ %74, %70 ], [ %63, %60 ]
  %67 = phi ptr [ %71, %70 ], [ %62, %60 ]
  %68 = load i64, ptr %7, align 8
  %69 = icmp ult i64 %68, 511
  br i1 %69, label %70, label %78

70:                                               ; preds = %65
  %71 = getelementptr inbounds i8, ptr %67, i64 1
  %72 = add nuw nsw i64 %68, 1
  store i64 %72, ptr %7, align 8
  %73 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %68
  store i8 %66, ptr %73, align 1
  %74 = load i8, ptr %71, align 1
  %75 = icmp eq i8 %74, 0
  br i1 %75, label %76, label %65, !llvm.loop !4

76:                                               ; preds = %70
  %77 = load i64, ptr %7, align 8
  br label %78

78:                                               ; preds = %65, %76, %60
  %79 = phi i64 [ 0, %60 ], [ %77, %76 ], [ %68, %65 ]
  %80 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %79
  store i8 0, ptr %80, align 1
  %81 = load i64, ptr %7, align 8
  %82 = icmp ult i64 %81, 511
  br i1 %82, label %83, label %92

83:                                               ; preds = %78
  %84 = add nuw nsw i64 %81, 1
  store i64 %84, ptr %7, align 8
  %85 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %81
  store i8 58, ptr %85, align 1
  %86 = load i64, ptr %7, align 8
  %87 = icmp ult i64 %86, 511
  br i1 %87, label %88, label %92

88:                                               ; preds = %83
  %89 = add nuw nsw i64 %86, 1
  store i64 %89, ptr %7, align 8
  %90 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %86
  store i8 32, ptr %90, align 1
  %91 = load i64, ptr %7, align 8
  br label %92

92:                                               ; preds = %78, %83, %88
  %93 = phi i64 [ %91, %88 ], [ %86, %83 ], [ %81, %78 ]
  %94 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %93
  store i8 0, ptr %94, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  br label %95

95:                                               ; preds = %112, %92
  %96 = phi i8 [ 116, %92 ], [ %118, %112 ]
  %97 = phi ptr [ @.str, %92 ], [ %115, %112 ]
  %98 = load i64, ptr %7, align 8
  %99 = icmp ult i64 %98, 511
  br i1 %99, label %100, label %122

100:                                              ; preds = %95
  %101 = add nuw nsw i64 %98, 1
  store i64 %101, ptr %7, align 8
  %102 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %98
  store i8 %96, ptr %102, align 1
  %103 = load i64, ptr %7, align 8
  %104 = icmp ult i64 %103, 511
  br i1 %104, label %105, label %122

105:                                              ; preds = %100
  %106 = getelementptr inbounds i8, ptr %97, i64 1
  %107 = load i8, ptr %106, align 1
  %108 = add nuw nsw i64 %103, 1
  store i64 %108, ptr %7, align 8
  %109 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %103
  store i8 %107, ptr %109, align 1
  %110 = load i64, ptr %7, align 8
  %111 = icmp ult i64 %110, 511
  br i1 %111, label %112, label %122

112:                                              ; preds = %105
  %113 = getelementptr inbounds i8, ptr %97, i64 2
  %114 = load i8, ptr %113, align 1
  %115 = getelementptr inbounds i8, ptr %97, i64 3
  %116 = add nuw nsw i64 %110, 1
  store i64 %116, ptr %7, align 8
  %117 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %110
  store i8 %114, ptr %117, align 1
  %118 = load i8, ptr %115, align 1
  %119 = icmp eq ptr %115, getelementptr inbounds ([58 x i8], ptr @.str, i64 0, i64 57)
  br i1 %119, label %120, label %95, !llvm.loop !4

120:                                              ; preds = %112
  %121 = load i64, ptr %7, align 8
  br label %122

122:                                              ; preds = %95, %100, %105, %120
  %123 = phi i64 [ %121, %120 ], [ %98, %95 ], [ %103, %100 ], [ %110, %105 ]
  %124 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %123
  store i8 0, ptr %124, align 1
  %125 = load ptr, ptr %8, align 8
  %126 = call ptr %125() #8
  %127 = load i8, ptr %126, align 1
  %128 = icmp eq i8 %127, 0
  br i1 %128, label %140, label %129

129:                                              ; preds = %122, %134
  %130 = phi i8 [ %138, %134 ], [ %127, %122 ]
  %131 = phi ptr [ %135, %134 ], [ %126, %122 ]
  %132 = load i64, ptr %7, align 8
  %133 = icmp ult i64 %132, 511
  br i1 %133, label %134, label %140

134:                                              ; preds = %129
  %135 = getelementptr inbounds i8, ptr %131, i64 1
  %136 = add nuw nsw i64 %132, 1
  store i64 %136, ptr %7, align 8
  %137 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %132
  store i8 %130, ptr %137, align 1
  %138 = load i8, ptr %135, align 1
  %139 = icmp eq i8 %138, 0
  br i1 %139, label %140, label %129, !llvm.loop !4

140:                                              ; preds = %129, %134, %122
  %141 = load i64, ptr %7, align 8
  %142 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %141
  store i8 0, ptr %142, align 1
  %143 = load ptr, ptr %1, align 8
  %144 = call ptr %143(i32 noundef 1) #8
  %145 = icmp eq ptr %144, null
  br i1 %145, label %150, label %146

146:                                              ; preds = %140
  %147 = load ptr, ptr %144, align 8
  %148 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1
  %149 = call ptr %147(i32 noundef 9, ptr noundef nonnull %148) #8
  br label %150

150:                                              ; preds = %140, %146
  %151 = phi ptr [ %149, %146 ], [ null, %140 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %7) #9
  br label %206

152:                                              ; preds = %56
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %3) #9
  %153 = load atomic i64, ptr @owner acquire, align 8
  %154 = inttoptr i64 %153 to ptr
  %155 = icmp eq ptr %58, %154
  br i1 %155, label %156, label %158

156:                                              ; preds = %152
  %157 = load ptr, ptr @kept_domain, align 8
  store ptr %157, ptr %6, align 8
  br label %201

158:                                              ; preds = %152
  %159 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 0
  store <4 x i8> <i8 116, i8 118, i8 109, i8 113>, ptr %159, align 8
  %160 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 4
  store i8 46, ptr %160, align 4
  store i64 5, ptr %3, align 8
  %161 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 5
  store i8 0, ptr %161, align 1
  %162 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %163 = load ptr, ptr %4, align 8
  %164 = load i8, ptr %163, align 1
  %165 = icmp eq i8 %164, 0
  br i1 %165, label %179, label %166

166:                                              ; preds = %158, %171
  %167 = phi i8 [ %175, %171 ], [ %164, %158 ]
  %168 = phi ptr [ %172, %171 ], [ %163, %158 ]
  %169 = load i64, ptr %3, align 8
  %170 = icmp ult i64 %169, 511
  br i1 %170, label %171, label %179

171:                                              ; preds = %166
  %172 = getelementptr inbounds i8, ptr %168, i64 1
  %173 = add nuw nsw i64 %169, 1
  store i64 %173, ptr %3, align 8
  %174 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %169
  store i8 %167, ptr %174, align 1
  %175 = load i8, ptr %172, align 1
  %176 = icmp eq i8 %175, 0
  br i1 %176, label %177, label %166, !llvm.loop !4

177:                                              ; preds = %171
  %178 = load i64, ptr %3, align 8
  br label %179

179:                                              ; preds = %166, %177, %158
  %180 = phi i64 [ 5, %158 ], [ %178, %177 ], [ %169, %166 ]
  %181 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %180
  store i8 0, ptr %181, align 1
  %182 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 2
  %183 = load ptr, ptr %182, align 8
  %184 = call ptr %183(ptr noundef nonnull %159, ptr noundef nonnull %6) #8
  %185 = icmp eq ptr %184, null
  br i1 %185, label %186, label %199

186:                                              ; preds = %179
  %187 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 3
  %188 = load ptr, ptr %187, align 8
  %189 = load ptr, ptr %6, align 8
  %190 = call ptr %188(ptr noundef %189, ptr noundef nonnull @model_op) #8
  %191 = icmp eq ptr %190, null
  br i1 %191, label %192, label %199

192:                                              ; preds = %186
  %193 = load ptr, ptr %6, align 8
  %194 = ptrtoint ptr %193 to i64
  %195 = cmpxchg ptr @kept_domain, i64 0, i64 %194 acq_rel monotonic, align 8
  %196 = extractvalue { i64, i1 } %195, 1
  br i1 %196, label %197, label %201

197:                                              ; preds = %192
  %198 = ptrtoint ptr %58 to i64
  store atomic i64 %198, ptr @owner release, align 8
  br label %201

199:                                              ; preds = %179, %186
  %200 = phi ptr [ %190, %186 ], [ %184, %179 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  br label %206

201:                                              ; preds = %156, %197, %192
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %202 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 4
  %203 = load ptr, ptr %202, align 8
  %204 = load ptr, ptr %6, align 8
  %205 = call ptr %203(ptr noundef %0, ptr noundef %204) #8
  br label %206

206:                                              ; preds = %199, %201, %150
  %207 = phi ptr [ %151, %150 ], [ %205, %201 ], [ %200, %199 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  ret ptr %207
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #2

declare i32 @model_describe(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal ptr @get_name(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = load ptr, ptr %2, align 8
  ret ptr %4
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal noalias ptr @get_provider(ptr nocapture readnone %0) #4 {
  ret ptr null
}

; Function Attrs: nounwind
define internal i32 @get_input_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_input(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_inputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 6
  %5 = load i32, ptr %4, align 4
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal i32 @get_output_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_output(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_outputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 7
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal void @destroy_kernel(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  %3 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 0
  %4 = load ptr, ptr %3, align 8
  %5 = icmp eq ptr %4, null
  br i1 %5, label %29, label %18

6:                                                ; preds = %119, %123, %130
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds %struct.ort_api, ptr %7, i64 0, i32 14
  %9 = load ptr, ptr %8, align 8
  %10 = load ptr, ptr %2, align 8
  %11 = tail call ptr %9(ptr noundef %10, ptr noundef nonnull %0) #8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %17, label %13

13:                                               ; preds = %6
  %14 = load ptr, ptr %0, align 8
  %15 = getelementptr inbounds %struct.ort_api, ptr %14, i64 0, i32 24
  %16 = load ptr, ptr %15, align 8
  tail call void %16(ptr noundef nonnull %11) #8
  br label %17

17:                                               ; preds = %6, %13
  ret void

18:                                               ; preds = %1
  %19 = load ptr, ptr %0, align 8
  %20 = getelementptr inbounds %struct.ort_api, ptr %19, i64 0, i32 14
  %21 = load ptr, ptr %20, align 8
  %22 = load ptr, ptr %2, align 8
  %23 = tail call ptr %21(ptr noundef %22, ptr noundef nonnull %4) #8
  %24 = icmp eq ptr %23, null
  br i1 %24, label %29, label %25

25:                                               ; preds = %18
  %26 = load ptr, ptr %0, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %26, i64 0, i32 24
  %28 = load ptr, ptr %27, align 8
  tail call void %28(ptr noundef nonnull %23) #8
  br label %29

29:                                               ; preds = %1, %18, %25
  %30 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %31, null
  br i1 %32, label %44, label %33

33:                                               ; preds = %29
  %34 = load ptr, ptr %0, align 8
  %35 = getelementptr inbounds %struct.ort_api, ptr %34, i64 0, i32 14
  %36 = load ptr, ptr %35, align 8
  %37 = load ptr, ptr %2, align 8
  %38 = tail call ptr %36(ptr noundef %37, ptr noundef nonnull %31) #8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %44, label %40

40:                                               ; preds = %33
  %41 = load ptr, ptr %0, align 8
  %42 = getelementptr inbounds %struct.ort_api, ptr %41, i64 0, i32 24
  %43 = load ptr, ptr %42, align 8
  tail call void %43(ptr noundef nonnull %38) #8
  br label %44

44:                                               ; preds = %40, %33, %29
  %45 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %46 = load ptr, ptr %45, align 8
  %47 = icmp eq ptr %46, null
  br i1 %47, label %59, label %48

48:                                               ; preds = %44
  %49 = load ptr, ptr %0, align 8
  %50 = getelementptr inbounds %struct.ort_api, ptr %49, i64 0, i32 14
  %51 = load ptr, ptr %50, align 8
  %52 = load ptr, ptr %2, align 8
  %53 = tail call ptr %51(ptr noundef %52, ptr noundef nonnull %46) #8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %59, label %55

55:                                               ; preds = %48
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 24
  %58 = load ptr, ptr %57, align 8
  tail call void %58(ptr noundef nonnull %53) #8
  br label %59

59:                                               ; preds = %55, %48, %44
  %60 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %61 = load ptr, ptr %60, align 8
  %62 = icmp eq ptr %61, null
  br i1 %62, label %74, label %63

63:                                               ; preds = %59
  %64 = load ptr, ptr %0, align 8
  %65 = getelementptr inbounds %struct.ort_api, ptr %64, i64 0, i32 14
  %66 = load ptr, ptr %65, align 8
  %67 = load ptr, ptr %2, align 8
  %68 = tail call ptr %66(ptr noundef %67, ptr noundef nonnull %61) #8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %74, label %70

70:                                               ; preds = %63
  %71 = load ptr, ptr %0, align 8
  %72 = getelementptr inbounds %struct.ort_api, ptr %71, i64 0, i32 24
  %73 = load ptr, ptr %72, align 8
  tail call void %73(ptr noundef nonnull %68) #8
  br label %74

74:                                               ; preds = %70, %63, %59
  %75 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %76 = load ptr, ptr %75, align 8
  %77 = icmp eq ptr %76, null
  br i1 %77, label %89, label %78

78:                                               ; preds = %74
  %79 = load ptr, ptr %0, align 8
  %80 = getelementptr inbounds %struct.ort_api, ptr %79, i64 0, i32 14
  %81 = load ptr, ptr %80, align 8
  %82 = load ptr, ptr %2, align 8
  %83 = tail call ptr %81(ptr noundef %82, ptr noundef nonnull %76) #8
  %84 = icmp eq ptr %83, null
  br i1 %84, label %89, label %85

85:                                               ; preds = %78
  %86 = load ptr, ptr %0, align 8
  %87 = getelementptr inbounds %struct.ort_api, ptr %86, i64 0, i32 24
  %88 = load ptr, ptr %87, align 8
  tail call void %88(ptr noundef nonnull %83) #8
  br label %89

89:                                               ; preds = %85, %78, %74
  %90 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %91 = load ptr, ptr %90, align 8
  %92 = icmp eq ptr %91, null
  br i1 %92, label %104, label %93

93:                                               ; preds = %89
  %94 = load ptr, ptr %0, align 8
  %95 = getelementptr inbounds %struct.ort_api, ptr %94, i64 0, i32 14
  %96 = load ptr, ptr %95, align 8
  %97 = load ptr, ptr %2, align 8
  %98 = tail call ptr %96(ptr noundef %97, ptr noundef nonnull %91) #8
  %99 = icmp eq ptr %98, null
  br i1 %99, label %104, label %100

100:                                              ; preds = %93
  %101 = load ptr, ptr %0, align 8
  %102 = getelementptr inbounds %struct.ort_api, ptr %101, i64 0, i32 24
  %103 = load ptr, ptr %102, align 8
  tail call void %103(ptr noundef nonnull %98) #8
  br label %104

104:                                              ; preds = %100, %93, %89
  %105 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %106 = load ptr, ptr %105, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %119, label %108

108:                                              ; preds = %104
  %109 = load ptr, ptr %0, align 8
  %110 = getelementptr inbounds %struct.ort_api, ptr %109, i64 0, i32 14
  %111 = load ptr, ptr %110, align 8
  %112 = load ptr, ptr %2, align 8
  %113 = tail call ptr %111(ptr noundef %112, ptr noundef nonnull %106) #8
  %114 = icmp eq ptr %113, null
  br i1 %114, label %119, label %115

115:                                              ; preds = %108
  %116 = load ptr, ptr %0, align 8
  %117 = getelementptr inbounds %struct.ort_api, ptr %116, i64 0, i32 24
  %118 = load ptr, ptr %117, align 8
  tail call void %118(ptr noundef nonnull %113) #8
  br label %119

119:                                              ; preds = %115, %108, %104
  %120 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %121, null
  br i1 %122, label %6, label %123

123:                                              ; preds = %119
  %124 = load ptr, ptr %0, align 8
  %125 = getelementptr inbounds %struct.ort_api, ptr %124, i64 0, i32 14
  %126 = load ptr, ptr %125, align 8
  %127 = load ptr, ptr %2, align 8
  %128 = tail call ptr %126(ptr noundef %127, ptr noundef nonnull %121) #8
  %129 = icmp eq ptr %128, null
  br i1 %129, label %6, label %130

130:                                              ; preds = %123
  %131 = load ptr, ptr %0, align 8
  %132 = getelementptr inbounds %struct.ort_api, ptr %131, i64 0, i32 24
  %133 = load ptr, ptr %132, align 8
  tail call void %133(ptr noundef nonnull %128) #8
  br label %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal i32 @get_zero(ptr nocapture readnone %0, i64 %1) #4 {
  ret i32 0
}

; Function Attrs: nounwind
define internal ptr @create_kernel(ptr nocapture readnone %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) #0 {
  %5 = alloca [24 x i8], align 16
  %6 = alloca [24 x i8], align 16
  %7 = alloca %struct.model_description, align 8
  %8 = alloca i64, align 8
  %9 = alloca %struct.text, align 8
  %10 = alloca %struct.model_description, align 8
  %11 = alloca [128 x i8], align 16
  %12 = alloca i64, align 8
  %13 = alloca ptr, align 8
  %14 = alloca %struct.model_description, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %13) #9
  store ptr null, ptr %13, align 8
  %15 = call i32 @model_describe(ptr noundef nonnull %14) #8
  %16 = getelementptr inbounds %struct.model_description, ptr %14, i64 0, i32 3
  %17 = load ptr, ptr %16, align 8
  %18 = icmp eq ptr %17, null
  br i1 %18, label %19, label %25

19:                                               ; preds = %4
  %20 = call i32 @model_init() #8
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %25, label %22

22:                                               ; preds = %19
  %23 = call ptr @model_status_text(i32 noundef %20) #8
  %24 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 9, ptr noundef %23) #10
  br label %236

25:                                               ; preds = %4, %19
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %10) #9
  %26 = call i32 @model_describe(ptr noundef nonnull %10) #8
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %11, i8 0, i64 128, i1 false)
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store i64 128, ptr %12, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 19
  %28 = load ptr, ptr %27, align 8
  %29 = call ptr %28(ptr noundef %2, ptr noundef nonnull @.str.4, ptr noundef nonnull %11, ptr noundef nonnull %12) #8
  %30 = icmp eq ptr %29, null
  br i1 %30, label %31, label %53

31:                                               ; preds = %25
  %32 = getelementptr inbounds %struct.model_description, ptr %10, i64 0, i32 1
  %33 = load ptr, ptr %32, align 8
  %34 = load i8, ptr %11, align 16
  %35 = icmp eq i8 %34, 0
  br i1 %35, label %47, label %36

36:                                               ; preds = %31, %42
  %37 = phi i8 [ %45, %42 ], [ %34, %31 ]
  %38 = phi ptr [ %44, %42 ], [ %33, %31 ]
  %39 = phi ptr [ %43, %42 ], [ %11, %31 ]
  %40 = load i8, ptr %38, align 1
  %41 = icmp eq i8 %37, %40
  br i1 %41, label %42, label %47

42:                                               ; preds = %36
  %43 = getelementptr inbounds i8, ptr %39, i64 1
  %44 = getelementptr inbounds i8, ptr %38, i64 1
  %45 = load i8, ptr %43, align 1
  %46 = icmp eq i8 %45, 0
  br i1 %46, label %47, label %36, !llvm.loop !5

47:                                               ; preds = %42, %36, %31
  %48 = phi ptr [ %33, %31 ], [ %44, %42 ], [ %38, %36 ]
  %49 = phi i8 [ 0, %31 ], [ 0, %42 ], [ %37, %36 ]
  %50 = load i8, ptr %48, align 1
  %51 = icmp eq i8 %49, %50
  br i1 %51, label %52, label %56

52:                                               ; preds = %47
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  br label %59

53:                                               ; preds = %25
  %54 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %55 = load ptr, ptr %54, align 8
  call void %55(ptr noundef nonnull %29) #8
  br label %56

56:                                               ; preds = %47, %53
  %57 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 2, ptr noundef nonnull @.str.5) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  %58 = icmp eq ptr %57, null
  br i1 %58, label %59, label %236

59:                                               ; preds = %52, %56
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #9
  store i64 8, ptr %8, align 8
  %60 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 18
  %61 = load ptr, ptr %60, align 8
  %62 = call ptr %61(ptr noundef %2, ptr noundef nonnull @.str.6, ptr noundef nonnull %8) #8
  %63 = icmp eq ptr %62, null
  br i1 %63, label %67, label %64

64:                                               ; preds = %59
  %65 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %66 = load ptr, ptr %65, align 8
  call void %66(ptr noundef nonnull %62) #8
  br label %205

67:                                               ; preds = %59
  %68 = load i64, ptr %8, align 8
  %69 = trunc i64 %68 to i32
  %70 = add i64 %68, -1
  %71 = icmp ult i64 %70, 64
  br i1 %71, label %205, label %72

72:                                               ; preds = %67
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %9) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %7)
  store i64 0, ptr %9, align 8
  %73 = call i32 @model_describe(ptr noundef nonnull %7) #8
  %74 = load ptr, ptr %7, align 8
  %75 = load i8, ptr %74, align 1
  %76 = icmp eq i8 %75, 0
  br i1 %76, label %90, label %77

77:                                               ; preds = %72, %82
  %78 = phi i8 [ %86, %82 ], [ %75, %72 ]
  %79 = phi ptr [ %83, %82 ], [ %74, %72 ]
  %80 = load i64, ptr %9, align 8
  %81 = icmp ult i64 %80, 511
  br i1 %81, label %82, label %90

82:                                               ; preds = %77
  %83 = getelementptr inbounds i8, ptr %79, i64 1
  %84 = add nuw nsw i64 %80, 1
  store i64 %84, ptr %9, align 8
  %85 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %80
  store i8 %78, ptr %85, align 1
  %86 = load i8, ptr %83, align 1
  %87 = icmp eq i8 %86, 0
  br i1 %87, label %88, label %77, !llvm.loop !4

88:                                               ; preds = %82
  %89 = load i64, ptr %9, align 8
  br label %90

90:                                               ; preds = %77, %88, %72
  %91 = phi i64 [ 0, %72 ], [ %89, %88 ], [ %80, %77 ]
  %92 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %91
  store i8 0, ptr %92, align 1
  %93 = load i64, ptr %9, align 8
  %94 = icmp ult i64 %93, 511
  br i1 %94, label %95, label %104

95:                                               ; preds = %90
  %96 = add nuw nsw i64 %93, 1
  store i64 %96, ptr %9, align 8
  %97 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %93
  store i8 58, ptr %97, align 1
  %98 = load i64, ptr %9, align 8
  %99 = icmp ult i64 %98, 511
  br i1 %99, label %100, label %104

100:                                              ; preds = %95
  %101 = add nuw nsw i64 %98, 1
  store i64 %101, ptr %9, align 8
  %102 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %98
  store i8 32, ptr %102, align 1
  %103 = load i64, ptr %9, align 8
  br label %104

104:                                              ; preds = %100, %95, %90
  %105 = phi i64 [ %103, %100 ], [ %98, %95 ], [ %93, %90 ]
  %106 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %105
  store i8 0, ptr %106, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %7)
  br label %107

107:                                              ; preds = %121, %104
  %108 = phi i8 [ 116, %104 ], [ %125, %121 ]
  %109 = phi ptr [ @.str.7, %104 ], [ %122, %121 ]
  %110 = load i64, ptr %9, align 8
  %111 = icmp ult i64 %110, 511
  br i1 %111, label %112, label %128

112:                                              ; preds = %107
  %113 = getelementptr inbounds i8, ptr %109, i64 1
  %114 = add nuw nsw i64 %110, 1
  store i64 %114, ptr %9, align 8
  %115 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %110
  store i8 %108, ptr %115, align 1
  %116 = load i8, ptr %113, align 1
  %117 = icmp eq ptr %113, getelementptr inbounds ([36 x i8], ptr @.str.7, i64 0, i64 35)
  br i1 %117, label %126, label %118, !llvm.loop !4

118:                                              ; preds = %112
  %119 = load i64, ptr %9, align 8
  %120 = icmp ult i64 %119, 511
  br i1 %120, label %121, label %128

121:                                              ; preds = %118
  %122 = getelementptr inbounds i8, ptr %109, i64 2
  %123 = add nuw nsw i64 %119, 1
  store i64 %123, ptr %9, align 8
  %124 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %119
  store i8 %116, ptr %124, align 1
  %125 = load i8, ptr %122, align 1
  br label %107

126:                                              ; preds = %112
  %127 = load i64, ptr %9, align 8
  br label %128

128:                                              ; preds = %107, %118, %126
  %129 = phi i64 [ %127, %126 ], [ %110, %107 ], [ %119, %118 ]
  %130 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %129
  store i8 0, ptr %130, align 1
  %131 = load i64, ptr %8, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %6) #9
  %132 = getelementptr inbounds i8, ptr %6, i64 23
  %133 = call i64 @llvm.abs.i64(i64 %131, i1 false)
  store i8 0, ptr %132, align 1
  br label %134

134:                                              ; preds = %134, %128
  %135 = phi ptr [ %132, %128 ], [ %140, %134 ]
  %136 = phi i64 [ %133, %128 ], [ %141, %134 ]
  %137 = urem i64 %136, 10
  %138 = trunc i64 %137 to i8
  %139 = or i8 %138, 48
  %140 = getelementptr inbounds i8, ptr %135, i64 -1
  store i8 %139, ptr %140, align 1
  %141 = udiv i64 %136, 10
  %142 = icmp ult i64 %136, 10
  br i1 %142, label %143, label %134, !llvm.loop !7

143:                                              ; preds = %134
  %144 = icmp slt i64 %131, 0
  br i1 %144, label %145, label %147

145:                                              ; preds = %143
  %146 = getelementptr inbounds i8, ptr %135, i64 -2
  store i8 45, ptr %146, align 1
  br label %147

147:                                              ; preds = %145, %143
  %148 = phi i8 [ %139, %143 ], [ 45, %145 ]
  %149 = phi ptr [ %140, %143 ], [ %146, %145 ]
  br label %150

150:                                              ; preds = %147, %155
  %151 = phi i8 [ %159, %155 ], [ %148, %147 ]
  %152 = phi ptr [ %156, %155 ], [ %149, %147 ]
  %153 = load i64, ptr %9, align 8
  %154 = icmp ult i64 %153, 511
  br i1 %154, label %155, label %163

155:                                              ; preds = %150
  %156 = getelementptr inbounds i8, ptr %152, i64 1
  %157 = add nuw nsw i64 %153, 1
  store i64 %157, ptr %9, align 8
  %158 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %153
  store i8 %151, ptr %158, align 1
  %159 = load i8, ptr %156, align 1
  %160 = icmp eq i8 %159, 0
  br i1 %160, label %161, label %150, !llvm.loop !4

161:                                              ; preds = %155
  %162 = load i64, ptr %9, align 8
  br label %163

163:                                              ; preds = %150, %161
  %164 = phi i64 [ %162, %161 ], [ %153, %150 ]
  %165 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %164
  store i8 0, ptr %165, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %6) #9
  br label %166

166:                                              ; preds = %176, %163
  %167 = phi i8 [ 59, %163 ], [ %182, %176 ]
  %168 = phi ptr [ @.str.8, %163 ], [ %179, %176 ]
  %169 = load i64, ptr %9, align 8
  %170 = icmp ult i64 %169, 511
  br i1 %170, label %171, label %186

171:                                              ; preds = %166
  %172 = add nuw nsw i64 %169, 1
  store i64 %172, ptr %9, align 8
  %173 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %169
  store i8 %167, ptr %173, align 1
  %174 = load i64, ptr %9, align 8
  %175 = icmp ult i64 %174, 511
  br i1 %175, label %176, label %186

176:                                              ; preds = %171
  %177 = getelementptr inbounds i8, ptr %168, i64 1
  %178 = load i8, ptr %177, align 1
  %179 = getelementptr inbounds i8, ptr %168, i64 2
  %180 = add nuw nsw i64 %174, 1
  store i64 %180, ptr %9, align 8
  %181 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %174
  store i8 %178, ptr %181, align 1
  %182 = load i8, ptr %179, align 1
  %183 = icmp eq ptr %179, getelementptr inbounds ([27 x i8], ptr @.str.8, i64 0, i64 26)
  br i1 %183, label %184, label %166, !llvm.loop !4

184:                                              ; preds = %176
  %185 = load i64, ptr %9, align 8
  br label %186

186:                                              ; preds = %166, %171, %184
  %187 = phi i64 [ %185, %184 ], [ %169, %166 ], [ %174, %171 ]
  %188 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %187
  store i8 0, ptr %188, align 1
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %5) #9
  %189 = getelementptr inbounds i8, ptr %5, i64 23
  store i8 0, ptr %189, align 1
  %190 = getelementptr inbounds i8, ptr %5, i64 22
  store i8 52, ptr %190, align 2
  %191 = getelementptr inbounds i8, ptr %5, i64 21
  store i8 54, ptr %191, align 1
  br label %192

192:                                              ; preds = %197, %186
  %193 = phi i8 [ %201, %197 ], [ 54, %186 ]
  %194 = phi ptr [ %198, %197 ], [ %191, %186 ]
  %195 = load i64, ptr %9, align 8
  %196 = icmp ult i64 %195, 511
  br i1 %196, label %197, label %207

197:                                              ; preds = %192
  %198 = getelementptr inbounds i8, ptr %194, i64 1
  %199 = add nuw nsw i64 %195, 1
  store i64 %199, ptr %9, align 8
  %200 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %195
  store i8 %193, ptr %200, align 1
  %201 = load i8, ptr %198, align 1
  %202 = icmp eq i8 %201, 0
  br i1 %202, label %203, label %192, !llvm.loop !4

203:                                              ; preds = %197
  %204 = load i64, ptr %9, align 8
  br label %207

205:                                              ; preds = %67, %64
  %206 = phi i32 [ 8, %64 ], [ %69, %67 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  br label %214

207:                                              ; preds = %192, %203
  %208 = phi i64 [ %204, %203 ], [ %195, %192 ]
  %209 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %208
  store i8 0, ptr %209, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %5) #9
  %210 = load ptr, ptr %1, align 8
  %211 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1
  %212 = call ptr %210(i32 noundef 2, ptr noundef nonnull %211) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  %213 = icmp eq ptr %212, null
  br i1 %213, label %214, label %236

214:                                              ; preds = %207, %205
  %215 = phi i32 [ %206, %205 ], [ %69, %207 ]
  %216 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 16
  %217 = load ptr, ptr %216, align 8
  %218 = call ptr %217(ptr noundef nonnull %13) #8
  %219 = icmp eq ptr %218, null
  br i1 %219, label %220, label %236

220:                                              ; preds = %214
  %221 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 13
  %222 = load ptr, ptr %221, align 8
  %223 = load ptr, ptr %13, align 8
  %224 = call ptr %222(ptr noundef %223, i64 noundef 88, ptr noundef %3) #8
  %225 = icmp eq ptr %224, null
  br i1 %225, label %226, label %236

226:                                              ; preds = %220
  %227 = load ptr, ptr %3, align 8
  %228 = icmp eq ptr %227, null
  br i1 %228, label %229, label %231

229:                                              ; preds = %226
  %230 = call fastcc ptr @fail(ptr noundef nonnull %1, i32 noundef 6, ptr noundef nonnull @.str.3) #10
  br label %236

231:                                              ; preds = %226
  %232 = load ptr, ptr %13, align 8
  store ptr %1, ptr %227, align 8
  %233 = getelementptr inbounds i8, ptr %227, i64 8
  store ptr %232, ptr %233, align 8
  %234 = getelementptr inbounds i8, ptr %227, i64 16
  store i32 %215, ptr %234, align 8
  %235 = getelementptr inbounds i8, ptr %227, i64 20
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(68) %235, i8 0, i64 68, i1 false)
  br label %236

236:                                              ; preds = %56, %207, %214, %229, %231, %220, %22
  %237 = phi ptr [ %24, %22 ], [ null, %231 ], [ %230, %229 ], [ %224, %220 ], [ %218, %214 ], [ %212, %207 ], [ %57, %56 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %13) #9
  ret ptr %237
}

; Function Attrs: nounwind
define internal ptr @compute(ptr noundef %0, ptr noundef %1) #0 {
  %3 = alloca ptr, align 8
  %4 = alloca %struct.model_tensor, align 8
  %5 = alloca %struct.model_description, align 8
  %6 = alloca %struct.text, align 8
  %7 = alloca ptr, align 8
  %8 = alloca [8 x i64], align 16
  %9 = alloca i64, align 8
  %10 = alloca ptr, align 8
  %11 = alloca %struct.model_tensor, align 8
  %12 = alloca ptr, align 8
  %13 = alloca %struct.model_threads, align 8
  %14 = alloca ptr, align 8
  %15 = alloca %struct.run, align 8
  %16 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 104, ptr nonnull %15) #9
  store ptr %0, ptr %15, align 8
  %17 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 1
  store ptr %1, ptr %17, align 8
  %18 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2
  %19 = call i32 @model_describe(ptr noundef nonnull %18) #8
  %20 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 3
  store ptr null, ptr %20, align 8
  %21 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 4
  store ptr null, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 5
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 6
  store ptr null, ptr %23, align 8
  %24 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2, i32 6
  %25 = load i32, ptr %24, align 4
  %26 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2, i32 7
  %27 = load i32, ptr %26, align 8
  %28 = add i32 %27, %25
  %29 = zext i32 %28 to i64
  %30 = shl nuw nsw i64 %29, 4
  %31 = zext i32 %27 to i64
  %32 = shl nuw nsw i64 %31, 3
  %33 = add nuw nsw i64 %32, 63
  %34 = add nuw nsw i64 %33, %30
  %35 = and i64 %34, 137438953408
  %36 = sub i32 0, %25
  %37 = icmp eq i32 %27, %36
  br i1 %37, label %40, label %38

38:                                               ; preds = %2
  %39 = getelementptr inbounds %struct.model_tensor, ptr %16, i64 0, i32 5
  br label %46

40:                                               ; preds = %56, %2
  %41 = phi i64 [ %35, %2 ], [ %60, %56 ]
  %42 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 2
  %43 = load i32, ptr %42, align 8
  %44 = call i64 @model_workspace_bytes(ptr noundef null, i32 noundef %43) #8
  %45 = icmp slt i64 %44, 0
  br i1 %45, label %66, label %71

46:                                               ; preds = %38, %56
  %47 = phi i32 [ %25, %38 ], [ %62, %56 ]
  %48 = phi i32 [ 0, %38 ], [ %61, %56 ]
  %49 = phi i64 [ %35, %38 ], [ %60, %56 ]
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %16) #9
  %50 = icmp ult i32 %48, %47
  br i1 %50, label %51, label %53

51:                                               ; preds = %46
  %52 = call i32 @model_input(i32 noundef %48, ptr noundef null, ptr noundef nonnull %16) #8
  br label %56

53:                                               ; preds = %46
  %54 = sub i32 %48, %47
  %55 = call i32 @model_output(i32 noundef %54, ptr noundef null, ptr noundef nonnull %16) #8
  br label %56

56:                                               ; preds = %51, %53
  %57 = load i64, ptr %39, align 8
  %58 = add i64 %57, 63
  %59 = and i64 %58, -64
  %60 = add i64 %59, %49
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %16) #9
  %61 = add nuw i32 %48, 1
  %62 = load i32, ptr %24, align 4
  %63 = load i32, ptr %26, align 8
  %64 = add i32 %63, %62
  %65 = icmp ult i32 %61, %64
  br i1 %65, label %46, label %40, !llvm.loop !8

66:                                               ; preds = %40
  %67 = load ptr, ptr %0, align 8
  %68 = trunc i64 %44 to i32
  %69 = call ptr @model_status_text(i32 noundef %68) #8
  %70 = call fastcc ptr @fail(ptr noundef %67, i32 noundef 6, ptr noundef %69) #10
  br label %596

71:                                               ; preds = %40
  %72 = add i64 %44, %41
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %14) #9
  store ptr null, ptr %14, align 8
  %73 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3
  %74 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  br label %75

75:                                               ; preds = %96, %71
  %76 = phi i64 [ 0, %71 ], [ %97, %96 ]
  %77 = getelementptr inbounds ptr, ptr %73, i64 %76
  %78 = atomicrmw xchg ptr %77, i64 0 acq_rel, align 8
  %79 = inttoptr i64 %78 to ptr
  %80 = icmp eq i64 %78, 0
  br i1 %80, label %96, label %81

81:                                               ; preds = %75
  %82 = getelementptr inbounds %struct.block, ptr %79, i64 0, i32 1
  %83 = load i64, ptr %82, align 8
  %84 = icmp ult i64 %83, %72
  br i1 %84, label %85, label %118

85:                                               ; preds = %81
  %86 = load ptr, ptr %0, align 8
  %87 = getelementptr inbounds %struct.ort_api, ptr %86, i64 0, i32 14
  %88 = load ptr, ptr %87, align 8
  %89 = load ptr, ptr %74, align 8
  %90 = call ptr %88(ptr noundef %89, ptr noundef nonnull %79) #8
  %91 = icmp eq ptr %90, null
  br i1 %91, label %96, label %92

92:                                               ; preds = %85
  %93 = load ptr, ptr %0, align 8
  %94 = getelementptr inbounds %struct.ort_api, ptr %93, i64 0, i32 24
  %95 = load ptr, ptr %94, align 8
  call void %95(ptr noundef nonnull %90) #8
  br label %96

96:                                               ; preds = %92, %85, %75
  %97 = add nuw nsw i64 %76, 1
  %98 = icmp eq i64 %97, 8
  br i1 %98, label %99, label %75, !llvm.loop !9

99:                                               ; preds = %96
  %100 = load ptr, ptr %0, align 8
  %101 = getelementptr inbounds %struct.ort_api, ptr %100, i64 0, i32 13
  %102 = load ptr, ptr %101, align 8
  %103 = load ptr, ptr %74, align 8
  %104 = add i64 %72, 80
  %105 = call ptr %102(ptr noundef %103, i64 noundef %104, ptr noundef nonnull %14) #8
  %106 = icmp eq ptr %105, null
  br i1 %106, label %108, label %107

107:                                              ; preds = %99
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %596

108:                                              ; preds = %99
  %109 = load ptr, ptr %14, align 8
  %110 = icmp eq ptr %109, null
  br i1 %110, label %122, label %111

111:                                              ; preds = %108
  %112 = getelementptr inbounds %struct.block, ptr %109, i64 0, i32 1
  store i64 %72, ptr %112, align 8
  %113 = getelementptr inbounds %struct.block, ptr %109, i64 1
  %114 = ptrtoint ptr %113 to i64
  %115 = sub i64 0, %114
  %116 = and i64 %115, 63
  %117 = getelementptr inbounds i8, ptr %113, i64 %116
  store ptr %117, ptr %109, align 8
  br label %120

118:                                              ; preds = %81
  %119 = inttoptr i64 %78 to ptr
  br label %120

120:                                              ; preds = %118, %111
  %121 = phi ptr [ %109, %111 ], [ %119, %118 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %126

122:                                              ; preds = %108
  %123 = load ptr, ptr %0, align 8
  %124 = call fastcc ptr @fail(ptr noundef %123, i32 noundef 6, ptr noundef nonnull @.str.9) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  %125 = icmp eq ptr %124, null
  br i1 %125, label %126, label %596

126:                                              ; preds = %120, %122
  %127 = phi ptr [ %121, %120 ], [ null, %122 ]
  %128 = load ptr, ptr %127, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %13) #9
  %129 = load ptr, ptr %15, align 8
  %130 = getelementptr inbounds %struct.kernel, ptr %129, i64 0, i32 2
  %131 = load i32, ptr %130, align 8
  store i32 %131, ptr %13, align 8
  %132 = getelementptr inbounds %struct.model_threads, ptr %13, i64 0, i32 1
  store ptr @launch, ptr %132, align 8
  %133 = getelementptr inbounds %struct.model_threads, ptr %13, i64 0, i32 2
  store ptr %15, ptr %133, align 8
  %134 = load i32, ptr %24, align 4
  %135 = load i32, ptr %26, align 8
  store ptr %128, ptr %20, align 8
  %136 = zext i32 %134 to i64
  %137 = getelementptr inbounds %struct.model_buffer, ptr %128, i64 %136
  %138 = zext i32 %135 to i64
  %139 = getelementptr inbounds %struct.model_buffer, ptr %137, i64 %138
  store ptr %139, ptr %21, align 8
  %140 = add i32 %135, %134
  %141 = zext i32 %140 to i64
  %142 = shl nuw nsw i64 %141, 4
  %143 = shl nuw nsw i64 %138, 3
  %144 = add nuw nsw i64 %143, 63
  %145 = add nuw nsw i64 %144, %142
  %146 = and i64 %145, 137438953408
  %147 = getelementptr inbounds i8, ptr %128, i64 %146
  store ptr %147, ptr %22, align 8
  %148 = icmp eq i32 %134, 0
  br i1 %148, label %155, label %149

149:                                              ; preds = %126
  %150 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 2
  %151 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 4
  %152 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1
  %153 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 5
  %154 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 3
  br label %162

155:                                              ; preds = %443, %126
  %156 = icmp eq i32 %135, 0
  br i1 %156, label %492, label %157

157:                                              ; preds = %155
  %158 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 4
  %159 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 2
  %160 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 5
  %161 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 3
  br label %446

162:                                              ; preds = %443, %149
  %163 = phi i64 [ 0, %149 ], [ %444, %443 ]
  %164 = load ptr, ptr %15, align 8
  %165 = load ptr, ptr %164, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %10) #9
  store ptr null, ptr %10, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store ptr null, ptr %12, align 8
  %166 = load i32, ptr %24, align 4
  %167 = zext i32 %166 to i64
  %168 = icmp ult i64 %163, %167
  %169 = trunc i64 %163 to i32
  br i1 %168, label %170, label %172

170:                                              ; preds = %162
  %171 = call i32 @model_input(i32 noundef %169, ptr noundef null, ptr noundef nonnull %11) #8
  br label %175

172:                                              ; preds = %162
  %173 = sub i32 %169, %166
  %174 = call i32 @model_output(i32 noundef %173, ptr noundef null, ptr noundef nonnull %11) #8
  br label %175

175:                                              ; preds = %172, %170
  %176 = getelementptr inbounds %struct.ort_api, ptr %165, i64 0, i32 21
  %177 = load ptr, ptr %176, align 8
  %178 = load ptr, ptr %17, align 8
  %179 = call ptr %177(ptr noundef %178, i64 noundef %163, ptr noundef nonnull %10) #8
  %180 = icmp eq ptr %179, null
  br i1 %180, label %181, label %441

181:                                              ; preds = %175
  %182 = load ptr, ptr %10, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #9
  store ptr null, ptr %7, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #9
  store i64 0, ptr %9, align 8
  %183 = getelementptr inbounds %struct.ort_api, ptr %165, i64 0, i32 11
  %184 = load ptr, ptr %183, align 8
  %185 = call ptr %184(ptr noundef %182, ptr noundef nonnull %7) #8
  %186 = icmp eq ptr %185, null
  br i1 %186, label %187, label %406

187:                                              ; preds = %181
  %188 = getelementptr inbounds %struct.ort_api, ptr %165, i64 0, i32 8
  %189 = load ptr, ptr %188, align 8
  %190 = load ptr, ptr %7, align 8
  %191 = call ptr %189(ptr noundef %190, ptr noundef nonnull %9) #8
  %192 = icmp eq ptr %191, null
  br i1 %192, label %193, label %200

193:                                              ; preds = %187
  %194 = getelementptr inbounds %struct.ort_api, ptr %165, i64 0, i32 9
  %195 = load ptr, ptr %194, align 8
  %196 = load ptr, ptr %7, align 8
  %197 = load i64, ptr %9, align 8
  %198 = call i64 @llvm.umin.i64(i64 %197, i64 8)
  %199 = call ptr %195(ptr noundef %196, ptr noundef nonnull %8, i64 noundef %198) #8
  br label %200

200:                                              ; preds = %193, %187
  %201 = phi ptr [ %191, %187 ], [ %199, %193 ]
  %202 = getelementptr inbounds %struct.ort_api, ptr %165, i64 0, i32 26
  %203 = load ptr, ptr %202, align 8
  %204 = load ptr, ptr %7, align 8
  call void %203(ptr noundef %204) #8
  %205 = icmp eq ptr %201, null
  br i1 %205, label %206, label %406

206:                                              ; preds = %200
  %207 = load i64, ptr %9, align 8
  %208 = load i32, ptr %150, align 8
  %209 = zext i32 %208 to i64
  %210 = icmp eq i64 %207, %209
  %211 = icmp ne i64 %207, 0
  %212 = and i1 %211, %210
  br i1 %212, label %216, label %213

213:                                              ; preds = %216, %206
  %214 = phi i1 [ %210, %206 ], [ %222, %216 ]
  br i1 %214, label %215, label %226

215:                                              ; preds = %213
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  br label %416

216:                                              ; preds = %206, %216
  %217 = phi i64 [ %223, %216 ], [ 0, %206 ]
  %218 = getelementptr inbounds [8 x i64], ptr %8, i64 0, i64 %217
  %219 = load i64, ptr %218, align 8
  %220 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 4, i64 %217
  %221 = load i64, ptr %220, align 8
  %222 = icmp eq i64 %219, %221
  %223 = add nuw i64 %217, 1
  %224 = icmp ult i64 %223, %207
  %225 = select i1 %222, i1 %224, i1 false
  br i1 %225, label %216, label %213, !llvm.loop !10

226:                                              ; preds = %213
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %6, align 8
  %227 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %228 = load ptr, ptr %5, align 8
  %229 = load i8, ptr %228, align 1
  %230 = icmp eq i8 %229, 0
  br i1 %230, label %242, label %231

231:                                              ; preds = %226, %236
  %232 = phi i8 [ %240, %236 ], [ %229, %226 ]
  %233 = phi ptr [ %237, %236 ], [ %228, %226 ]
  %234 = load i64, ptr %6, align 8
  %235 = icmp ult i64 %234, 511
  br i1 %235, label %236, label %242

236:                                              ; preds = %231
  %237 = getelementptr inbounds i8, ptr %233, i64 1
  %238 = add nuw nsw i64 %234, 1
  store i64 %238, ptr %6, align 8
  %239 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %234
  store i8 %232, ptr %239, align 1
  %240 = load i8, ptr %237, align 1
  %241 = icmp eq i8 %240, 0
  br i1 %241, label %242, label %231, !llvm.loop !4

242:                                              ; preds = %236, %231, %226
  %243 = load i64, ptr %6, align 8
  %244 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %243
  store i8 0, ptr %244, align 1
  %245 = load i64, ptr %6, align 8
  %246 = icmp ult i64 %245, 511
  br i1 %246, label %247, label %256

247:                                              ; preds = %242
  %248 = add nuw nsw i64 %245, 1
  store i64 %248, ptr %6, align 8
  %249 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %245
  store i8 58, ptr %249, align 1
  %250 = load i64, ptr %6, align 8
  %251 = icmp ult i64 %250, 511
  br i1 %251, label %252, label %256

252:                                              ; preds = %247
  %253 = add nuw nsw i64 %250, 1
  store i64 %253, ptr %6, align 8
  %254 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %250
  store i8 32, ptr %254, align 1
  %255 = load i64, ptr %6, align 8
  br label %256

256:                                              ; preds = %252, %247, %242
  %257 = phi i64 [ %255, %252 ], [ %250, %247 ], [ %245, %242 ]
  %258 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %257
  store i8 0, ptr %258, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  %259 = load i64, ptr %6, align 8
  %260 = icmp ult i64 %259, 511
  br i1 %260, label %261, label %295

261:                                              ; preds = %256
  %262 = add nuw nsw i64 %259, 1
  store i64 %262, ptr %6, align 8
  %263 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %259
  store i8 105, ptr %263, align 1
  %264 = load i64, ptr %6, align 8
  %265 = icmp ult i64 %264, 511
  br i1 %265, label %266, label %295

266:                                              ; preds = %261
  %267 = add nuw nsw i64 %264, 1
  store i64 %267, ptr %6, align 8
  %268 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %264
  store i8 110, ptr %268, align 1
  %269 = load i64, ptr %6, align 8
  %270 = icmp ult i64 %269, 511
  br i1 %270, label %271, label %295

271:                                              ; preds = %266
  %272 = add nuw nsw i64 %269, 1
  store i64 %272, ptr %6, align 8
  %273 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %269
  store i8 112, ptr %273, align 1
  %274 = load i64, ptr %6, align 8
  %275 = icmp ult i64 %274, 511
  br i1 %275, label %276, label %295

276:                                              ; preds = %271
  %277 = add nuw nsw i64 %274, 1
  store i64 %277, ptr %6, align 8
  %278 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %274
  store i8 117, ptr %278, align 1
  %279 = load i64, ptr %6, align 8
  %280 = icmp ult i64 %279, 511
  br i1 %280, label %281, label %295

281:                                              ; preds = %276
  %282 = add nuw nsw i64 %279, 1
  store i64 %282, ptr %6, align 8
  %283 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %279
  store i8 116, ptr %283, align 1
  %284 = load i64, ptr %6, align 8
  %285 = icmp ult i64 %284, 511
  br i1 %285, label %286, label %295

286:                                              ; preds = %281
  %287 = add nuw nsw i64 %284, 1
  store i64 %287, ptr %6, align 8
  %288 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %284
  store i8 32, ptr %288, align 1
  %289 = load i64, ptr %6, align 8
  %290 = icmp ult i64 %289, 511
  br i1 %290, label %291, label %295

291:                                              ; preds = %286
  %292 = add nuw nsw i64 %289, 1
  store i64 %292, ptr %6, align 8
  %293 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %289
  store i8 39, ptr %293, align 1
  %294 = load i64, ptr %6, align 8
  br label %295

295:                                              ; preds = %291, %286, %281, %276, %271, %266, %261, %256
  %296 = phi i64 [ %294, %291 ], [ %289, %286 ], [ %284, %281 ], [ %279, %276 ], [ %274, %271 ], [ %269, %266 ], [ %264, %261 ], [ %259, %256 ]
  %297 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %296
  store i8 0, ptr %297, align 1
  %298 = load ptr, ptr %11, align 8
  %299 = load i8, ptr %298, align 1
  %300 = icmp eq i8 %299, 0
  br i1 %300, label %312, label %301

301:                                              ; preds = %295, %306
  %302 = phi i8 [ %310, %306 ], [ %299, %295 ]
  %303 = phi ptr [ %307, %306 ], [ %298, %295 ]
  %304 = load i64, ptr %6, align 8
  %305 = icmp ult i64 %304, 511
  br i1 %305, label %306, label %312

306:                                              ; preds = %301
  %307 = getelementptr inbounds i8, ptr %303, i64 1
  %308 = add nuw nsw i64 %304, 1
  store i64 %308, ptr %6, align 8
  %309 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %304
  store i8 %302, ptr %309, align 1
  %310 = load i8, ptr %307, align 1
  %311 = icmp eq i8 %310, 0
  br i1 %311, label %312, label %301, !llvm.loop !4

312:                                              ; preds = %306, %301, %295
  %313 = load i64, ptr %6, align 8
  %314 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %313
  store i8 0, ptr %314, align 1
  %315 = load i64, ptr %6, align 8
  %316 = icmp ult i64 %315, 511
  br i1 %316, label %317, label %376

317:                                              ; preds = %312
  %318 = add nuw nsw i64 %315, 1
  store i64 %318, ptr %6, align 8
  %319 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %315
  store i8 39, ptr %319, align 1
  %320 = load i64, ptr %6, align 8
  %321 = icmp ult i64 %320, 511
  br i1 %321, label %322, label %376

322:                                              ; preds = %317
  %323 = add nuw nsw i64 %320, 1
  store i64 %323, ptr %6, align 8
  %324 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %320
  store i8 32, ptr %324, align 1
  %325 = load i64, ptr %6, align 8
  %326 = icmp ult i64 %325, 511
  br i1 %326, label %327, label %376

327:                                              ; preds = %322
  %328 = add nuw nsw i64 %325, 1
  store i64 %328, ptr %6, align 8
  %329 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %325
  store i8 104, ptr %329, align 1
  %330 = load i64, ptr %6, align 8
  %331 = icmp ult i64 %330, 511
  br i1 %331, label %332, label %376

332:                                              ; preds = %327
  %333 = add nuw nsw i64 %330, 1
  store i64 %333, ptr %6, align 8
  %334 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %330
  store i8 97, ptr %334, align 1
  %335 = load i64, ptr %6, align 8
  %336 = icmp ult i64 %335, 511
  br i1 %336, label %337, label %376

337:                                              ; preds = %332
  %338 = add nuw nsw i64 %335, 1
  store i64 %338, ptr %6, align 8
  %339 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %335
  store i8 115, ptr %339, align 1
  %340 = load i64, ptr %6, align 8
  %341 = icmp ult i64 %340, 511
  br i1 %341, label %342, label %376

342:                                              ; preds = %337
  %343 = add nuw nsw i64 %340, 1
  store i64 %343, ptr %6, align 8
  %344 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %340
  store i8 32, ptr %344, align 1
  %345 = load i64, ptr %6, align 8
  %346 = icmp ult i64 %345, 511
  br i1 %346, label %347, label %376

347:                                              ; preds = %342
  %348 = add nuw nsw i64 %345, 1
  store i64 %348, ptr %6, align 8
  %349 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %345
  store i8 115, ptr %349, align 1
  %350 = load i64, ptr %6, align 8
  %351 = icmp ult i64 %350, 511
  br i1 %351, label %352, label %376

352:                                              ; preds = %347
  %353 = add nuw nsw i64 %350, 1
  store i64 %353, ptr %6, align 8
  %354 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %350
  store i8 104, ptr %354, align 1
  %355 = load i64, ptr %6, align 8
  %356 = icmp ult i64 %355, 511
  br i1 %356, label %357, label %376

357:                                              ; preds = %352
  %358 = add nuw nsw i64 %355, 1
  store i64 %358, ptr %6, align 8
  %359 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %355
  store i8 97, ptr %359, align 1
  %360 = load i64, ptr %6, align 8
  %361 = icmp ult i64 %360, 511
  br i1 %361, label %362, label %376

362:                                              ; preds = %357
  %363 = add nuw nsw i64 %360, 1
  store i64 %363, ptr %6, align 8
  %364 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %360
  store i8 112, ptr %364, align 1
  %365 = load i64, ptr %6, align 8
  %366 = icmp ult i64 %365, 511
  br i1 %366, label %367, label %376

367:                                              ; preds = %362
  %368 = add nuw nsw i64 %365, 1
  store i64 %368, ptr %6, align 8
  %369 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %365
  store i8 101, ptr %369, align 1
  %370 = load i64, ptr %6, align 8
  %371 = icmp ult i64 %370, 511
  br i1 %371, label %372, label %376

372:                                              ; preds = %367
  %373 = add nuw nsw i64 %370, 1
  store i64 %373, ptr %6, align 8
  %374 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %370
  store i8 32, ptr %374, align 1
  %375 = load i64, ptr %6, align 8
  br label %376

376:                                              ; preds = %372, %367, %362, %357, %352, %347, %342, %337, %332, %327, %322, %317, %312
  %377 = phi i64 [ %375, %372 ], [ %370, %367 ], [ %365, %362 ], [ %360, %357 ], [ %355, %352 ], [ %350, %347 ], [ %345, %342 ], [ %340, %337 ], [ %335, %332 ], [ %330, %327 ], [ %325, %322 ], [ %320, %317 ], [ %315, %312 ]
  %378 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %377
  store i8 0, ptr %378, align 1
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %8, i64 noundef %207) #10
  br label %379

379:                                              ; preds = %396, %376
  %380 = phi i8 [ 32, %376 ], [ %402, %396 ]
  %381 = phi ptr [ @.str.12, %376 ], [ %399, %396 ]
  %382 = load i64, ptr %6, align 8
  %383 = icmp ult i64 %382, 511
  br i1 %383, label %384, label %408

384:                                              ; preds = %379
  %385 = add nuw nsw i64 %382, 1
  store i64 %385, ptr %6, align 8
  %386 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %382
  store i8 %380, ptr %386, align 1
  %387 = load i64, ptr %6, align 8
  %388 = icmp ult i64 %387, 511
  br i1 %388, label %389, label %408

389:                                              ; preds = %384
  %390 = getelementptr inbounds i8, ptr %381, i64 1
  %391 = load i8, ptr %390, align 1
  %392 = add nuw nsw i64 %387, 1
  store i64 %392, ptr %6, align 8
  %393 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %387
  store i8 %391, ptr %393, align 1
  %394 = load i64, ptr %6, align 8
  %395 = icmp ult i64 %394, 511
  br i1 %395, label %396, label %408

396:                                              ; preds = %389
  %397 = getelementptr inbounds i8, ptr %381, i64 2
  %398 = load i8, ptr %397, align 1
  %399 = getelementptr inbounds i8, ptr %381, i64 3
  %400 = add nuw nsw i64 %394, 1
  store i64 %400, ptr %6, align 8
  %401 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %394
  store i8 %398, ptr %401, align 1
  %402 = load i8, ptr %399, align 1
  %403 = icmp eq ptr %399, getelementptr inbounds ([22 x i8], ptr @.str.12, i64 0, i64 21)
  br i1 %403, label %404, label %379, !llvm.loop !4

404:                                              ; preds = %396
  %405 = load i64, ptr %6, align 8
  br label %408

406:                                              ; preds = %200, %181
  %407 = phi ptr [ %201, %200 ], [ %185, %181 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  br label %441

408:                                              ; preds = %379, %384, %389, %404
  %409 = phi i64 [ %405, %404 ], [ %382, %379 ], [ %387, %384 ], [ %394, %389 ]
  %410 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %409
  store i8 0, ptr %410, align 1
  %411 = load i32, ptr %150, align 8
  %412 = zext i32 %411 to i64
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %151, i64 noundef %412) #10
  %413 = load ptr, ptr %165, align 8
  %414 = call ptr %413(i32 noundef 2, ptr noundef nonnull %152) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  %415 = icmp eq ptr %414, null
  br i1 %415, label %416, label %441

416:                                              ; preds = %408, %215
  %417 = getelementptr inbounds %struct.ort_api, ptr %165, i64 0, i32 6
  %418 = load ptr, ptr %417, align 8
  %419 = load ptr, ptr %10, align 8
  %420 = call ptr %418(ptr noundef %419, ptr noundef nonnull %12) #8
  %421 = icmp eq ptr %420, null
  br i1 %421, label %422, label %441

422:                                              ; preds = %416
  %423 = load ptr, ptr %20, align 8
  %424 = getelementptr inbounds %struct.model_buffer, ptr %423, i64 %163
  %425 = load ptr, ptr %12, align 8
  %426 = load i64, ptr %153, align 8
  %427 = ptrtoint ptr %425 to i64
  %428 = load i32, ptr %154, align 4
  %429 = zext i32 %428 to i64
  %430 = urem i64 %427, %429
  %431 = icmp eq i64 %430, 0
  %432 = load ptr, ptr %22, align 8
  %433 = select i1 %431, ptr %425, ptr %432
  %434 = add i64 %426, 63
  %435 = and i64 %434, -64
  %436 = getelementptr inbounds i8, ptr %432, i64 %435
  store ptr %436, ptr %22, align 8
  store ptr %433, ptr %424, align 8
  %437 = getelementptr inbounds i8, ptr %424, i64 8
  store i64 %426, ptr %437, align 8
  %438 = load ptr, ptr %12, align 8
  %439 = icmp eq ptr %433, %438
  br i1 %439, label %443, label %440

440:                                              ; preds = %422
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %433, ptr align 1 %438, i64 %426, i1 false)
  br label %443

441:                                              ; preds = %416, %408, %175, %406
  %442 = phi ptr [ %407, %406 ], [ %420, %416 ], [ %414, %408 ], [ %179, %175 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  br label %552

443:                                              ; preds = %440, %422
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  %444 = add nuw nsw i64 %163, 1
  %445 = icmp eq i64 %444, %136
  br i1 %445, label %155, label %162, !llvm.loop !11

446:                                              ; preds = %469, %157
  %447 = phi i64 [ 0, %157 ], [ %490, %469 ]
  %448 = load ptr, ptr %15, align 8
  %449 = load ptr, ptr %448, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #9
  store ptr null, ptr %3, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %4) #9
  %450 = trunc i64 %447 to i32
  %451 = call i32 @model_output(i32 noundef %450, ptr noundef null, ptr noundef nonnull %4) #8
  %452 = getelementptr inbounds %struct.ort_api, ptr %449, i64 0, i32 22
  %453 = load ptr, ptr %452, align 8
  %454 = load ptr, ptr %17, align 8
  %455 = load i32, ptr %159, align 8
  %456 = zext i32 %455 to i64
  %457 = call ptr %453(ptr noundef %454, i64 noundef %447, ptr noundef nonnull %158, i64 noundef %456, ptr noundef nonnull %3) #8
  %458 = icmp eq ptr %457, null
  br i1 %458, label %459, label %467

459:                                              ; preds = %446
  %460 = getelementptr inbounds %struct.ort_api, ptr %449, i64 0, i32 6
  %461 = load ptr, ptr %460, align 8
  %462 = load ptr, ptr %3, align 8
  %463 = load ptr, ptr %21, align 8
  %464 = getelementptr inbounds ptr, ptr %463, i64 %447
  %465 = call ptr %461(ptr noundef %462, ptr noundef %464) #8
  %466 = icmp eq ptr %465, null
  br i1 %466, label %469, label %467

467:                                              ; preds = %459, %446
  %468 = phi ptr [ %465, %459 ], [ %457, %446 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  br label %552

469:                                              ; preds = %459
  %470 = load ptr, ptr %20, align 8
  %471 = load i32, ptr %24, align 4
  %472 = add i32 %471, %450
  %473 = zext i32 %472 to i64
  %474 = getelementptr inbounds %struct.model_buffer, ptr %470, i64 %473
  %475 = load ptr, ptr %21, align 8
  %476 = getelementptr inbounds ptr, ptr %475, i64 %447
  %477 = load ptr, ptr %476, align 8
  %478 = load i64, ptr %160, align 8
  %479 = ptrtoint ptr %477 to i64
  %480 = load i32, ptr %161, align 4
  %481 = zext i32 %480 to i64
  %482 = urem i64 %479, %481
  %483 = icmp eq i64 %482, 0
  %484 = load ptr, ptr %22, align 8
  %485 = select i1 %483, ptr %477, ptr %484
  %486 = add i64 %478, 63
  %487 = and i64 %486, -64
  %488 = getelementptr inbounds i8, ptr %484, i64 %487
  store ptr %488, ptr %22, align 8
  store ptr %485, ptr %474, align 8
  %489 = getelementptr inbounds i8, ptr %474, i64 8
  store i64 %478, ptr %489, align 8
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  %490 = add nuw nsw i64 %447, 1
  %491 = icmp eq i64 %490, %138
  br i1 %491, label %492, label %446, !llvm.loop !12

492:                                              ; preds = %469, %155
  %493 = load ptr, ptr %22, align 8
  %494 = load ptr, ptr %20, align 8
  %495 = getelementptr inbounds %struct.model_buffer, ptr %494, i64 %136
  %496 = call i32 @model_run(ptr noundef null, ptr noundef %494, ptr noundef %495, ptr %493, i64 %44, ptr noundef nonnull %13) #8
  %497 = load ptr, ptr %23, align 8
  %498 = icmp eq ptr %497, null
  br i1 %498, label %499, label %552

499:                                              ; preds = %492
  %500 = icmp eq i32 %496, 0
  br i1 %500, label %501, label %507

501:                                              ; preds = %499
  br i1 %156, label %552, label %502

502:                                              ; preds = %501
  %503 = and i64 %138, 1
  %504 = icmp eq i32 %135, 1
  br i1 %504, label %539, label %505

505:                                              ; preds = %502
  %506 = and i64 %138, 4294967294
  br label %512

507:                                              ; preds = %499
  %508 = load ptr, ptr %15, align 8
  %509 = load ptr, ptr %508, align 8
  %510 = call ptr @model_status_text(i32 noundef %496) #8
  %511 = call fastcc ptr @fail(ptr noundef %509, i32 noundef 6, ptr noundef %510) #10
  br label %552

512:                                              ; preds = %535, %505
  %513 = phi i64 [ 0, %505 ], [ %536, %535 ]
  %514 = phi i64 [ 0, %505 ], [ %537, %535 ]
  %515 = getelementptr inbounds %struct.model_buffer, ptr %495, i64 %513
  %516 = load ptr, ptr %515, align 8
  %517 = load ptr, ptr %21, align 8
  %518 = getelementptr inbounds ptr, ptr %517, i64 %513
  %519 = load ptr, ptr %518, align 8
  %520 = icmp eq ptr %516, %519
  br i1 %520, label %524, label %521

521:                                              ; preds = %512
  %522 = getelementptr inbounds %struct.model_buffer, ptr %515, i64 0, i32 1
  %523 = load i64, ptr %522, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %519, ptr align 1 %516, i64 %523, i1 false)
  br label %524

524:                                              ; preds = %521, %512
  %525 = or i64 %513, 1
  %526 = getelementptr inbounds %struct.model_buffer, ptr %495, i64 %525
  %527 = load ptr, ptr %526, align 8
  %528 = load ptr, ptr %21, align 8
  %529 = getelementptr inbounds ptr, ptr %528, i64 %525
  %530 = load ptr, ptr %529, align 8
  %531 = icmp eq ptr %527, %530
  br i1 %531, label %535, label %532

532:                                              ; preds = %524
  %533 = getelementptr inbounds %struct.model_buffer, ptr %526, i64 0, i32 1
  %534 = load i64, ptr %533, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %530, ptr align 1 %527, i64 %534, i1 false)
  br label %535

535:                                              ; preds = %532, %524
  %536 = add nuw nsw i64 %513, 2
  %537 = add i64 %514, 2
  %538 = icmp eq i64 %537, %506
  br i1 %538, label %539, label %512, !llvm.loop !13

539:                                              ; preds = %535, %502
  %540 = phi i64 [ 0, %502 ], [ %536, %535 ]
  %541 = icmp eq i64 %503, 0
  br i1 %541, label %552, label %542

542:                                              ; preds = %539
  %543 = getelementptr inbounds %struct.model_buffer, ptr %495, i64 %540
  %544 = load ptr, ptr %543, align 8
  %545 = load ptr, ptr %21, align 8
  %546 = getelementptr inbounds ptr, ptr %545, i64 %540
  %547 = load ptr, ptr %546, align 8
  %548 = icmp eq ptr %544, %547
  br i1 %548, label %552, label %549

549:                                              ; preds = %542
  %550 = getelementptr inbounds %struct.model_buffer, ptr %543, i64 0, i32 1
  %551 = load i64, ptr %550, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %547, ptr align 1 %544, i64 %551, i1 false)
  br label %552

552:                                              ; preds = %539, %549, %542, %441, %467, %492, %501, %507
  %553 = phi ptr [ %511, %507 ], [ %497, %492 ], [ null, %501 ], [ %468, %467 ], [ %442, %441 ], [ null, %542 ], [ null, %549 ], [ null, %539 ]
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %13) #9
  %554 = ptrtoint ptr %127 to i64
  %555 = cmpxchg ptr %73, i64 0, i64 %554 acq_rel monotonic, align 8
  %556 = extractvalue { i64, i1 } %555, 1
  br i1 %556, label %596, label %557

557:                                              ; preds = %552
  %558 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %559 = cmpxchg ptr %558, i64 0, i64 %554 acq_rel monotonic, align 8
  %560 = extractvalue { i64, i1 } %559, 1
  br i1 %560, label %596, label %561

561:                                              ; preds = %557
  %562 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %563 = cmpxchg ptr %562, i64 0, i64 %554 acq_rel monotonic, align 8
  %564 = extractvalue { i64, i1 } %563, 1
  br i1 %564, label %596, label %565

565:                                              ; preds = %561
  %566 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %567 = cmpxchg ptr %566, i64 0, i64 %554 acq_rel monotonic, align 8
  %568 = extractvalue { i64, i1 } %567, 1
  br i1 %568, label %596, label %569

569:                                              ; preds = %565
  %570 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %571 = cmpxchg ptr %570, i64 0, i64 %554 acq_rel monotonic, align 8
  %572 = extractvalue { i64, i1 } %571, 1
  br i1 %572, label %596, label %573

573:                                              ; preds = %569
  %574 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %575 = cmpxchg ptr %574, i64 0, i64 %554 acq_rel monotonic, align 8
  %576 = extractvalue { i64, i1 } %575, 1
  br i1 %576, label %596, label %577

577:                                              ; preds = %573
  %578 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %579 = cmpxchg ptr %578, i64 0, i64 %554 acq_rel monotonic, align 8
  %580 = extractvalue { i64, i1 } %579, 1
  br i1 %580, label %596, label %581

581:                                              ; preds = %577
  %582 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %583 = cmpxchg ptr %582, i64 0, i64 %554 acq_rel monotonic, align 8
  %584 = extractvalue { i64, i1 } %583, 1
  br i1 %584, label %596, label %585

585:                                              ; preds = %581
  %586 = load ptr, ptr %0, align 8
  %587 = getelementptr inbounds %struct.ort_api, ptr %586, i64 0, i32 14
  %588 = load ptr, ptr %587, align 8
  %589 = load ptr, ptr %74, align 8
  %590 = call ptr %588(ptr noundef %589, ptr noundef nonnull %127) #8
  %591 = icmp eq ptr %590, null
  br i1 %591, label %596, label %592

592:                                              ; preds = %585
  %593 = load ptr, ptr %0, align 8
  %594 = getelementptr inbounds %struct.ort_api, ptr %593, i64 0, i32 24
  %595 = load ptr, ptr %594, align 8
  call void %595(ptr noundef nonnull %590) #8
  br label %596

596:                                              ; preds = %592, %585, %581, %577, %573, %569, %565, %561, %557, %552, %107, %122, %66
  %597 = phi ptr [ %70, %66 ], [ %124, %122 ], [ %105, %107 ], [ %553, %552 ], [ %553, %557 ], [ %553, %561 ], [ %553, %565 ], [ %553, %569 ], [ %553, %573 ], [ %553, %577 ], [ %553, %581 ], [ %553, %585 ], [ %553, %592 ]
  call void @llvm.lifetime.end.p0(i64 104, ptr nonnull %15) #9
  ret ptr %597
}

declare i32 @model_input(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_output(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_init() local_unnamed_addr #3

; Function Attrs: nounwind
define internal fastcc ptr @fail(ptr nocapture noundef readonly %0, i32 noundef %1, ptr nocapture noundef readonly %2) unnamed_addr #0 {
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.text, align 8
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %5) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  store i64 0, ptr %5, align 8
  %6 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %7 = load ptr, ptr %4, align 8
  %8 = load i8, ptr %7, align 1
  %9 = icmp eq i8 %8, 0
  br i1 %9, label %23, label %10

10:                                               ; preds = %3, %15
  %11 = phi i8 [ %19, %15 ], [ %8, %3 ]
  %12 = phi ptr [ %16, %15 ], [ %7, %3 ]
  %13 = load i64, ptr %5, align 8
  %14 = icmp ult i64 %13, 511
  br i1 %14, label %15, label %23

15:                                               ; preds = %10
  %16 = getelementptr inbounds i8, ptr %12, i64 1
  %17 = add nuw nsw i64 %13, 1
  store i64 %17, ptr %5, align 8
  %18 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %13
  store i8 %11, ptr %18, align 1
  %19 = load i8, ptr %16, align 1
  %20 = icmp eq i8 %19, 0
  br i1 %20, label %21, label %10, !llvm.loop !4

21:                                               ; preds = %15
  %22 = load i64, ptr %5, align 8
  br label %23

23:                                               ; preds = %10, %21, %3
  %24 = phi i64 [ 0, %3 ], [ %22, %21 ], [ %13, %10 ]
  %25 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %24
  store i8 0, ptr %25, align 1
  %26 = load i64, ptr %5, align 8
  %27 = icmp ult i64 %26, 511
  br i1 %27, label %28, label %37

28:                                               ; preds = %23
  %29 = add nuw nsw i64 %26, 1
  store i64 %29, ptr %5, align 8
  %30 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %26
  store i8 58, ptr %30, align 1
  %31 = load i64, ptr %5, align 8
  %32 = icmp ult i64 %31, 511
  br i1 %32, label %33, label %37

33:                                               ; preds = %28
  %34 = add nuw nsw i64 %31, 1
  store i64 %34, ptr %5, align 8
  %35 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %31
  store i8 32, ptr %35, align 1
  %36 = load i64, ptr %5, align 8
  br label %37

37:                                               ; preds = %23, %28, %33
  %38 = phi i64 [ %36, %33 ], [ %31, %28 ], [ %26, %23 ]
  %39 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %38
  store i8 0, ptr %39, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %40 = load i8, ptr %2, align 1
  %41 = icmp eq i8 %40, 0
  br i1 %41, label %53, label %42

42:                                               ; preds = %37, %47
  %43 = phi i8 [ %51, %47 ], [ %40, %37 ]
  %44 = phi ptr [ %48, %47 ], [ %2, %37 ]
  %45 = load i64, ptr %5, align 8
  %46 = icmp ult i64 %45, 511
  br i1 %46, label %47, label %53

47:                                               ; preds = %42
  %48 = getelementptr inbounds i8, ptr %44, i64 1
  %49 = add nuw nsw i64 %45, 1
  store i64 %49, ptr %5, align 8
  %50 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %45
  store i8 %43, ptr %50, align 1
  %51 = load i8, ptr %48, align 1
  %52 = icmp eq i8 %51, 0
  br i1 %52, label %53, label %42, !llvm.loop !4

53:                                               ; preds = %42, %47, %37
  %54 = load i64, ptr %5, align 8
  %55 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1
  %58 = call ptr %56(i32 noundef %1, ptr noundef nonnull %57) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %5) #9
  ret ptr %58
}

declare ptr @model_status_text(i32 noundef) local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #5

declare i64 @model_workspace_bytes(ptr noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @launch(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = alloca %struct.job, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #9
  store ptr %1, ptr %5, align 8
  %6 = getelementptr inbounds %struct.job, ptr %5, i64 0, i32 1
  store ptr %2, ptr %6, align 8
  %7 = load ptr, ptr %0, align 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.ort_api, ptr %8, i64 0, i32 30
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %12 = load ptr, ptr %11, align 8
  %13 = zext i32 %3 to i64
  %14 = call ptr %10(ptr noundef %12, ptr noundef nonnull @run_task, i64 noundef %13, i64 noundef 0, ptr noundef nonnull %5) #8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %26, label %16

16:                                               ; preds = %4
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  %18 = load ptr, ptr %17, align 8
  %19 = icmp eq ptr %18, null
  br i1 %19, label %25, label %20

20:                                               ; preds = %16
  %21 = load ptr, ptr %0, align 8
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds %struct.ort_api, ptr %22, i64 0, i32 24
  %24 = load ptr, ptr %23, align 8
  call void %24(ptr noundef nonnull %14) #8
  br label %26

25:                                               ; preds = %16
  store ptr %14, ptr %17, align 8
  br label %26

26:                                               ; preds = %4, %25, %20
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #9
  ret void
}

declare i32 @model_run(ptr noundef, ptr noundef, ptr noundef, ptr, i64, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @run_task(ptr nocapture noundef readonly %0, i64 noundef %1) #0 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.job, ptr %0, i64 0, i32 1
  %5 = load ptr, ptr %4, align 8
  %6 = trunc i64 %1 to i32
  tail call void %3(ptr noundef %5, i32 noundef %6) #8
  ret void
}

; Function Attrs: nofree nosync nounwind memory(argmem: readwrite)
define internal fastcc void @add_shape(ptr nocapture noundef %0, ptr nocapture noundef readonly %1, i64 noundef %2) unnamed_addr #6 {
  %4 = alloca [24 x i8], align 16
  %5 = load i64, ptr %0, align 8
  %6 = icmp ult i64 %5, 511
  br i1 %6, label %7, label %11

7:                                                ; preds = %3
  %8 = add nuw nsw i64 %5, 1
  store i64 %8, ptr %0, align 8
  %9 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %5
  store i8 91, ptr %9, align 1
  %10 = load i64, ptr %0, align 8
  br label %11

11:                                               ; preds = %7, %3
  %12 = phi i64 [ %10, %7 ], [ %5, %3 ]
  %13 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %12
  store i8 0, ptr %13, align 1
  %14 = icmp eq i64 %2, 0
  br i1 %14, label %19, label %15

15:                                               ; preds = %11
  %16 = getelementptr inbounds i8, ptr %4, i64 23
  %17 = add i64 %2, -1
  %18 = tail call i64 @llvm.umin.i64(i64 %17, i64 7)
  br label %38

19:                                               ; preds = %89, %11
  %20 = icmp ugt i64 %2, 8
  %21 = select i1 %20, ptr @.str.15, ptr @.str.16
  %22 = load i8, ptr %21, align 1
  %23 = icmp eq i8 %22, 0
  br i1 %23, label %35, label %24

24:                                               ; preds = %19, %29
  %25 = phi i8 [ %33, %29 ], [ %22, %19 ]
  %26 = phi ptr [ %30, %29 ], [ %21, %19 ]
  %27 = load i64, ptr %0, align 8
  %28 = icmp ult i64 %27, 511
  br i1 %28, label %29, label %35

29:                                               ; preds = %24
  %30 = getelementptr inbounds i8, ptr %26, i64 1
  %31 = add nuw nsw i64 %27, 1
  store i64 %31, ptr %0, align 8
  %32 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %27
  store i8 %25, ptr %32, align 1
  %33 = load i8, ptr %30, align 1
  %34 = icmp eq i8 %33, 0
  br i1 %34, label %35, label %24, !llvm.loop !4

35:                                               ; preds = %24, %29, %19
  %36 = load i64, ptr %0, align 8
  %37 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %36
  store i8 0, ptr %37, align 1
  ret void

38:                                               ; preds = %15, %89
  %39 = phi i64 [ 0, %15 ], [ %92, %89 ]
  %40 = icmp eq i64 %39, 0
  br i1 %40, label %56, label %41

41:                                               ; preds = %38
  %42 = load i64, ptr %0, align 8
  %43 = icmp ult i64 %42, 511
  br i1 %43, label %44, label %53

44:                                               ; preds = %41
  %45 = add nuw nsw i64 %42, 1
  store i64 %45, ptr %0, align 8
  %46 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %42
  store i8 44, ptr %46, align 1
  %47 = load i64, ptr %0, align 8
  %48 = icmp ult i64 %47, 511
  br i1 %48, label %49, label %53

49:                                               ; preds = %44
  %50 = add nuw nsw i64 %47, 1
  store i64 %50, ptr %0, align 8
  %51 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %47
  store i8 32, ptr %51, align 1
  %52 = load i64, ptr %0, align 8
  br label %53

53:                                               ; preds = %49, %44, %41
  %54 = phi i64 [ %52, %49 ], [ %47, %44 ], [ %42, %41 ]
  %55 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  br label %56

56:                                               ; preds = %53, %38
  %57 = getelementptr inbounds i64, ptr %1, i64 %39
  %58 = load i64, ptr %57, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %4) #9
  %59 = tail call i64 @llvm.abs.i64(i64 %58, i1 false)
  store i8 0, ptr %16, align 1
  br label %60

60:                                               ; preds = %60, %56
  %61 = phi ptr [ %16, %56 ], [ %66, %60 ]
  %62 = phi i64 [ %59, %56 ], [ %67, %60 ]
  %63 = urem i64 %62, 10
  %64 = trunc i64 %63 to i8
  %65 = or i8 %64, 48
  %66 = getelementptr inbounds i8, ptr %61, i64 -1
  store i8 %65, ptr %66, align 1
  %67 = udiv i64 %62, 10
  %68 = icmp ult i64 %62, 10
  br i1 %68, label %69, label %60, !llvm.loop !7

69:                                               ; preds = %60
  %70 = icmp slt i64 %58, 0
  br i1 %70, label %71, label %73

71:                                               ; preds = %69
  %72 = getelementptr inbounds i8, ptr %61, i64 -2
  store i8 45, ptr %72, align 1
  br label %73

73:                                               ; preds = %71, %69
  %74 = phi i8 [ %65, %69 ], [ 45, %71 ]
  %75 = phi ptr [ %66, %69 ], [ %72, %71 ]
  br label %76

76:                                               ; preds = %73, %81
  %77 = phi i8 [ %85, %81 ], [ %74, %73 ]
  %78 = phi ptr [ %82, %81 ], [ %75, %73 ]
  %79 = load i64, ptr %0, align 8
  %80 = icmp ult i64 %79, 511
  br i1 %80, label %81, label %89

81:                                               ; preds = %76
  %82 = getelementptr inbounds i8, ptr %78, i64 1
  %83 = add nuw nsw i64 %79, 1
  store i64 %83, ptr %0, align 8
  %84 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %79
  store i8 %77, ptr %84, align 1
  %85 = load i8, ptr %82, align 1
  %86 = icmp eq i8 %85, 0
  br i1 %86, label %87, label %76, !llvm.loop !4

87:                                               ; preds = %81
  %88 = load i64, ptr %0, align 8
  br label %89

89:                                               ; preds = %76, %87
  %90 = phi i64 [ %88, %87 ], [ %79, %76 ]
  %91 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %90
  store i8 0, ptr %91, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %4) #9
  %92 = add nuw nsw i64 %39, 1
  %93 = icmp eq i64 %39, %18
  br i1 %93, label %19, label %38, !llvm.loop !14
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.abs.i64(i64, i1 immarg) #7

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #7

attributes #0 = { nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #3 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nofree nosync nounwind memory(argmem: readwrite) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nobuiltin nounwind "no-builtins" }
attributes #9 = { nounwind }
attributes #10 = { nobuiltin "no-builtins" }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = distinct !{!4, !3}
!5 = distinct !{!5, !3}
!6 = distinct !{!6, !3}
!7 = distinct !{!7, !3}
!8 = distinct !{!8, !3}
!9 = distinct !{!9, !3}
!10 = distinct !{!10, !3}
!11 = distinct !{!11, !3}
!12 = distinct !{!12, !3}
!13 = distinct !{!13, !3}
!14 = distinct !{!14, !3}
